/** @jsxImportSource preact */

import type { ComponentChildren } from "preact"
import { useContext } from "preact/hooks"
import { RECOMMENDATIONS, type Recommendation } from "../../../contract/policies.ts"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import {
  ACCOUNT_STYLESHEET_PATH,
  DOCS_STYLESHEET_PATH,
  ICON_PATH,
  SITE_SCRIPT_PATH,
  STYLESHEET_PATH,
  THEME_SCRIPT_PATH,
} from "../assets.ts"
import { formatNumber, formatShare, tierName } from "./format.ts"
import { Highlighted } from "./highlighted.tsx"
import { PageHead } from "./panels.tsx"
import { type SocialAddress, SocialTags } from "./social.tsx"
import { Offer, SigningVisitor, Visitor } from "./visitor.tsx"

/** The links in the header of every page. The prices are left out at a server that has none to show. */
const NAVIGATION = [
  { route: "docsGuide", label: "Docs" },
  { route: "docs", label: "API" },
  { route: "docsLists", label: "Lists" },
] as const satisfies readonly { readonly route: RouteId; readonly label: string }[]

/** Where the home page tells the prices. */
export const PRICING_PATH = `${ROUTES.home.path}#pricing`

/** A page by its name in a navigation. */
export type PageLink = { readonly route: RouteId; readonly label: string }

type LayoutProps = {
  /** Null on error pages, which belong to no route. */
  readonly route: RouteId | null
  readonly title: string
  /** The title of the browser's tab, when it is not that of the page. */
  readonly tabTitle?: string
  /** The path and the description of a page that shares its route with others. */
  readonly address?: SocialAddress
  /** Paths of the page's scripts, which are modules. */
  readonly scripts?: readonly string[]
  /** Paths of further stylesheets. */
  readonly styles?: readonly string[]
  readonly aboveTitle?: ComponentChildren
  /** The page that lists this one. */
  readonly parent?: PageLink | undefined
  /** Displayed in place of the title. It has the page's `h1`. */
  readonly hero?: ComponentChildren
  /** Displayed beside the content on wide screens, below it on others. */
  readonly sidebar?: ComponentChildren
  /** The links of a section: a column beside the content on wide screens, a row above it that scrolls sideways on others. */
  readonly navigation?: ComponentChildren
  /** Displayed beside the title, such as a button or a choice of the period. */
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A complete page: head, header, content and footer. */
export function Layout(props: LayoutProps) {
  const { route, title, aboveTitle, parent, hero, action, sidebar, navigation, children } = props
  const content = (
    <main id="content" class="page">
      {aboveTitle}
      {parent === undefined ? null : (
        <p class="crumb">
          <a href={ROUTES[parent.route].path}>
            <span aria-hidden="true">←</span> {parent.label}
          </a>
        </p>
      )}
      {hero ?? <PageHead title={title} action={action} />}
      {children}
    </main>
  )
  return (
    <html lang="en">
      <Head {...props} />
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <SiteHeader route={route} />
        <Columns navigation={navigation} sidebar={sidebar}>
          {content}
        </Columns>
        <SiteFooter />
      </body>
    </html>
  )
}

/** A calm page: one column in the middle, with its title and its form. */
export const CalmLayout = ({ children, ...props }: Omit<LayoutProps, "hero">) => (
  <Layout
    {...props}
    hero={
      <div class="signing">
        <h1>{props.title}</h1>
        {children}
      </div>
    }
  >
    {null}
  </Layout>
)

/** What browsers, search engines and tabs read of a page. */
function Head({ route, title, tabTitle, address, scripts = [], styles = [] }: LayoutProps) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="description" content={address?.description ?? (route === null ? title : ROUTES[route].description)} />
      <title>{tabTitle ?? (route === "home" ? title : `${title} · mailkind`)}</title>
      <SocialTags route={route} title={title} address={address} />
      <script src={THEME_SCRIPT_PATH} />
      <link rel="stylesheet" href={STYLESHEET_PATH} />
      {[...sectionStyles(route), ...styles].map(path => (
        <link key={path} rel="stylesheet" href={path} />
      ))}
      <link rel="icon" type="image/svg+xml" href={ICON_PATH} />
      {[SITE_SCRIPT_PATH, ...scripts].map(path => (
        <script key={path} type="module" src={path} />
      ))}
    </head>
  )
}

/** The further stylesheet of the part of the site that a page is in. */
function sectionStyles(route: RouteId | null): readonly string[] {
  if (route === null) return []
  const { access, path } = ROUTES[route]
  if (access === "account" || access === "admin") return [ACCOUNT_STYLESHEET_PATH]
  return path.startsWith(ROUTES.docs.path) ? [DOCS_STYLESHEET_PATH] : []
}

type ColumnsProps = Pick<LayoutProps, "navigation" | "sidebar" | "children">

/** The content with the columns beside it. */
function Columns({ navigation, sidebar, children }: ColumnsProps) {
  if (navigation !== undefined)
    return (
      <div class="shell">
        {navigation}
        {children}
      </div>
    )
  if (sidebar === undefined) return <>{children}</>
  return (
    <div class="columns">
      {children}
      {sidebar}
    </div>
  )
}

/** The product's mark, as in the favicon. */
const Mark = () => (
  <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#4f46e5" />
    <path d="M6.5 10.5h19v12h-19z" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round" />
    <path d="M10 14.5l5 4.5 11-12" fill="none" stroke="#a5f3c8" stroke-width="3" stroke-linecap="round" />
  </svg>
)

const SiteFooter = () => (
  <footer class="bottom">
    <a href={ROUTES.docsPrivacy.path}>Privacy</a>
    <a href={ROUTES.docsLicences.path}>Licences</a>
    <a href={ROUTES.openapi.path}>OpenAPI</a>
    <a href={ROUTES.getHealth.path}>Health</a>
  </footer>
)

const SIGN_IN_PAGES: ReadonlySet<RouteId | null> = new Set<RouteId>([
  "signIn",
  "signInCode",
  "signInLink",
  "invitation",
])

/** The header of every page. Marks the link to the current page, or to the section that holds it. */
export function SiteHeader({ route }: Pick<LayoutProps, "route">) {
  const links = <SiteLinks route={route} />
  return (
    <header class="top">
      <a class="brand" href={ROUTES.home.path} {...ariaCurrentPage(route === "home")}>
        <Mark />
        mailkind
      </a>
      <nav aria-label="Site">{links}</nav>
      {SIGN_IN_PAGES.has(route) ? <SigningVisitor /> : <Visitor />}
      <details class="menu more">
        <summary>Menu</summary>
        <nav class="menu-items" aria-label="Site">
          {links}
        </nav>
      </details>
    </header>
  )
}

function SiteLinks({ route }: Pick<LayoutProps, "route">) {
  return (
    <>
      {NAVIGATION.map(({ route: target, label }) => (
        <a key={target} href={ROUTES[target].path} {...ariaCurrentSection(target, route)}>
          {label}
        </a>
      ))}
      {useContext(Offer).hasPricing ? <a href={PRICING_PATH}>Pricing</a> : null}
    </>
  )
}

function ariaCurrentSection(target: NavigationTarget, route: RouteId | null) {
  if (route === null || target === route) return ariaCurrentPage(target === route)
  return target === sectionOf(route) ? ({ "aria-current": true } as const) : {}
}

type NavigationTarget = (typeof NAVIGATION)[number]["route"]

/** The link of the header whose part of the site holds a page. Null: the page has a link of its own, or is in no part. */
function sectionOf(route: RouteId): NavigationTarget | null {
  const { path } = ROUTES[route]
  if (path.startsWith(`${ROUTES.docs.path}/api/`)) return "docs"
  const hasOwnLink = NAVIGATION.some(link => link.route === route)
  return path.startsWith(`${ROUTES.docs.path}/`) && !hasOwnLink ? "docsGuide" : null
}

/** Leads to more units than a tier has, which the link may name: to the prices, or at a server that has none to show to what the limits are. */
export function MoreUnitsLink({ tier }: { readonly tier?: number }) {
  const { hasPricing } = useContext(Offer)
  return (
    <a
      class={tier === undefined ? "button small" : undefined}
      href={hasPricing ? PRICING_PATH : ROUTES.docsLimits.path}
    >
      {tier === undefined ? "" : `${tierName(tier)} tier · `}
      {hasPricing ? "See pricing" : "How limits work"}
    </a>
  )
}

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
  /** The language, whose colours the code gets. None: plain text. */
  readonly language?: string | undefined
}

/** A scrollable block of code with a caption, to which `site.js` adds a copy button. */
export function CodeBlock({ caption, code, language }: CodeBlockProps) {
  return (
    <figure class="sample">
      <figcaption>{caption}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0}>
        <Highlighted code={code} language={language} />
      </pre>
    </figure>
  )
}

type TabsProps = {
  /** For screen readers: what the reader chooses. */
  readonly label: string
  /** Tells the tabs of one page apart. */
  readonly name: string
  readonly tabs: readonly { readonly label: string; readonly content: ComponentChildren }[]
}

/** Panels of which one is visible. They need no script; `site.js` remembers the choice for all pages. */
export function Tabs({ label, name, tabs }: TabsProps) {
  return (
    <fieldset class="tabs">
      <legend class="unseen">{label}</legend>
      {tabs.flatMap(tab => [
        <input type="radio" name={name} id={`${name}-${tab.label}`} value={tab.label} checked={tab === tabs[0]} />,
        <label for={`${name}-${tab.label}`}>{tab.label}</label>,
      ])}
      <div class="panels">
        {tabs.map(tab => (
          <div key={tab.label}>{tab.content}</div>
        ))}
      </div>
    </fieldset>
  )
}

/** A coloured recommendation. The colour adds nothing to the word. */
export function RecommendationBadge({ recommendation }: { readonly recommendation: Recommendation }) {
  return <span class={`pill ${recommendation}`}>{recommendation}</span>
}

type CountsProps = {
  readonly counts: Readonly<Partial<Record<Recommendation, number>>>
  /** What stands below each number. */
  readonly below?: (name: Recommendation, count: number) => ComponentChildren
}

/** How many things were allowed, are to be reviewed, and were blocked, in three columns. */
export function RecommendationCounts({ counts, below = () => null }: CountsProps) {
  const all = RECOMMENDATIONS.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  return (
    <ul class="plain parts">
      {RECOMMENDATIONS.map(name => (
        <li key={name}>
          <RecommendationBadge recommendation={name} />
          <p>
            <b>{formatNumber(counts[name] ?? 0)}</b> <span class="because">{formatShare(counts[name] ?? 0, all)}</span>
          </p>
          {below(name, counts[name] ?? 0)}
        </li>
      ))}
    </ul>
  )
}

/** Indented JSON. */
export const prettyJson = (value: unknown): string => JSON.stringify(value, null, 2)

type DescriptionListProps = {
  readonly items: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[]
  /** Whether the values are aligned to the right. */
  readonly isSpread?: boolean
}

/** Names with their values. */
export function DescriptionList({ items, isSpread = false }: DescriptionListProps) {
  return (
    <dl class={isSpread ? "kv" : "facts"}>
      {items.map(([name, value], index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
