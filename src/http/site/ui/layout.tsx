import type { ComponentChildren } from "preact"
import type { Recommendation } from "../../../contract/policies.ts"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { ICON_PATH, STYLESHEET_PATH } from "../assets.ts"

/** @jsxImportSource preact */
/** The pages that every page links to, in order, and what they are called there: few enough for the width of a phone. */
const NAVIGATION = [
  { route: "docsGuide", label: "Guide" },
  { route: "docs", label: "API reference" },
  { route: "dashboard", label: "Dashboard" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

type LayoutProps = {
  /** Null: what was asked for is no page. */
  readonly route: RouteId | null
  readonly title: string
  /** Paths of the scripts that the page runs, each a module. */
  readonly scripts?: readonly string[]
  /** Paths of style sheets beside the one of all pages. */
  readonly styles?: readonly string[]
  /** What stands above the title. */
  readonly aboveTitle?: ComponentChildren
  /** What stands beside the content where there is room, and below it elsewhere. */
  readonly sidebar?: ComponentChildren
  readonly children: ComponentChildren
}

/** A whole page: head, header with the links to every page, the content as `main`, footer. */
export function Layout({ route, title, scripts = [], styles = [], aboveTitle, sidebar, children }: LayoutProps) {
  const content = (
    <main id="content" class="page">
      {aboveTitle}
      <h1>{title}</h1>
      {children}
    </main>
  )
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content={route === null ? title : ROUTES[route].description} />
        <title>{route === "home" ? title : `${title} · mailkind`}</title>
        <link rel="stylesheet" href={STYLESHEET_PATH} />
        {styles.map(path => (
          <link key={path} rel="stylesheet" href={path} />
        ))}
        <link rel="icon" type="image/svg+xml" href={ICON_PATH} />
        {scripts.map(path => (
          <script key={path} type="module" src={path} />
        ))}
      </head>
      <body class={sidebar === undefined ? "site" : "site wide"}>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <SiteHeader route={route} />
        {sidebar === undefined ? (
          content
        ) : (
          <div class="columns">
            {content}
            {sidebar}
          </div>
        )}
        <footer class="bottom">
          <a href={ROUTES.docsPrivacy.path}>Privacy</a>
          <a href={ROUTES.docsLicences.path}>Licences</a>
          <a href={ROUTES.openapi.path}>OpenAPI document</a>
          <a href={ROUTES.getHealth.path}>Health</a>
        </footer>
      </body>
    </html>
  )
}

type NavigationTarget = (typeof NAVIGATION)[number]["route"]

/** The header of every page; the link to the page itself, or to the part that it belongs to, is marked as the current one. */
export function SiteHeader({ route }: { readonly route: RouteId | null }) {
  return (
    <header class="top">
      <a class="brand" href={ROUTES.home.path} {...ariaCurrentPage(route === "home")}>
        mailkind
      </a>
      <nav aria-label="Site">
        {NAVIGATION.map(({ route: target, label }) => (
          <a key={target} href={ROUTES[target].path} {...ariaCurrentSection(target, route)}>
            {label}
          </a>
        ))}
      </nav>
    </header>
  )
}

function ariaCurrentSection(target: NavigationTarget, route: RouteId | null) {
  if (route === null || target === route) return ariaCurrentPage(target === route)
  const { path, access } = ROUTES[route]
  const isWithin = target === "dashboard" ? access !== "anybody" : target === "docsGuide" && isDocsPath(path)
  return isWithin ? ({ "aria-current": true } as const) : {}
}

const isDocsPath = (path: string): boolean => path.startsWith(`${ROUTES.docs.path}/`)

/** Marks a link to the page that it stands on. */
export const ariaCurrentPage = (isCurrent: boolean) => (isCurrent ? ({ "aria-current": "page" } as const) : {})

/** A sentence of a table of `contract/`; what stands between backticks is code. */
export function Prose({ text }: { readonly text: string }) {
  // A split at pairs of backticks gives text and code in turn.
  return <>{text.split(/`([^`]*)`/).map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
}

type CodeBlockProps = {
  readonly caption: string
  readonly code: string
  /** Whether the page's `copy.js` gives it a button. */
  readonly isCopyable?: boolean
}

/** A block of code under a caption; it scrolls, so the keyboard can reach it. */
export function CodeBlock({ caption, code, isCopyable = false }: CodeBlockProps) {
  return (
    <figure class="sample">
      <figcaption>{caption}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} class={isCopyable ? "copied" : undefined}>
        <code>{code}</code>
      </pre>
    </figure>
  )
}

type TableProps = {
  /** What the table holds, for those who do not see it. */
  readonly caption: string
  /** The heads of the columns; empty: what may be done with the row. */
  readonly columns: readonly string[]
  /** Rows. */
  readonly children: ComponentChildren
}

/** A table that scrolls sideways where the screen is narrow. */
export function Table({ caption, columns, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="scroll" aria-label={`Table: ${caption}`} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column} scope="col">
                {column === "" ? <span class="unseen">Actions</span> : column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

/** A recommendation, coloured; the word alone says all. */
export function RecommendationBadge({ recommendation }: { readonly recommendation: Recommendation }) {
  return <span class={`advice ${recommendation}`}>{recommendation}</span>
}

/** JSON as it is read by people. */
export const prettyJson = (value: unknown): string => JSON.stringify(value, null, 2)
