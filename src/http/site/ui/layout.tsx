/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import type { Recommendation } from "../../../contract/policies.ts"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { ICON_PATH, STYLESHEET_PATH } from "../assets.ts"

/** The links in the header of every page, few enough to fit on a phone. */
const NAVIGATION = [
  { route: "docsGuide", label: "Guide" },
  { route: "docs", label: "API reference" },
  { route: "dashboard", label: "Dashboard" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

type LayoutProps = {
  /** Null on error pages, which belong to no route. */
  readonly route: RouteId | null
  readonly title: string
  /** Paths of the page's scripts, which are modules. */
  readonly scripts?: readonly string[]
  /** Paths of further stylesheets. */
  readonly styles?: readonly string[]
  readonly aboveTitle?: ComponentChildren
  /** Displayed beside the content on wide screens, below it on others. */
  readonly sidebar?: ComponentChildren
  readonly children: ComponentChildren
}

/** A complete page: head, header, content and footer. */
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

/** The header of every page. Marks the link to the current page, or to the section that holds it. */
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

/** Marks a link to the current page. */
export const ariaCurrentPage = (isCurrent: boolean) => (isCurrent ? ({ "aria-current": "page" } as const) : {})

/** A text in which backticks mark code, as in the tables of `contract/`. */
export function Prose({ text }: { readonly text: string }) {
  // Splitting at pairs of backticks yields text and code alternately.
  return <>{text.split(/`([^`]*)`/).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}

type CodeBlockProps = {
  readonly caption: string
  readonly code: string
  /** Whether `copy.js` adds a copy button. */
  readonly isCopyable?: boolean
}

/** A scrollable block of code with a caption. */
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
  /** For screen readers. */
  readonly caption: string
  /** The column headings. Empty: the column holds the row's actions. */
  readonly columns: readonly string[]
  /** Rows. */
  readonly children: ComponentChildren
}

/** A table that scrolls sideways on narrow screens. */
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

/** A coloured recommendation. The colour adds nothing to the word. */
export function RecommendationBadge({ recommendation }: { readonly recommendation: Recommendation }) {
  return <span class={`advice ${recommendation}`}>{recommendation}</span>
}

/** Indented JSON. */
export const prettyJson = (value: unknown): string => JSON.stringify(value, null, 2)

type DescriptionListProps = { readonly items: readonly (readonly [name: string, value: ComponentChildren])[] }

/** Names with their values. */
export function DescriptionList({ items }: DescriptionListProps) {
  return (
    <dl class="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
