/** @jsxImportSource preact */
import { render } from "preact-render-to-string"
import { ROUTES } from "../../../contract/routes.ts"
import type { OpenApiDocument } from "../../openapi/openapi-document.ts"
import { ICON_PATH, STYLESHEET_PATH } from "../assets.ts"
import { SiteHeader } from "../ui/layout.tsx"
import { Offer, type ServerOffer } from "../ui/visitor.tsx"

/** The viewer contacts no other host: no proxy, no fonts, no telemetry, no agent. */
const VIEWER_SETTINGS = {
  url: ROUTES.openapi.path,
  proxyUrl: "",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  // The colour scheme follows the browser, as on every page.
  hideDarkModeToggle: true,
  showDeveloperTools: "never",
  documentDownloadType: "json",
  customCss: viewerStyles(),
}

/**
 * Leaves room for our header, and uses the fonts and colours of the other pages: the viewer's greys have too little contrast,
 * some of its buttons are too small, and some show no focus (WCAG 2.2, 1.4.3, 2.5.8 and 2.4.7).
 */
function viewerStyles(): string {
  const colours = {
    "background-1": "paper",
    "background-2": "raised",
    "color-1": "ink",
    "color-2": "soft",
    "color-3": "soft",
    "color-accent": "accent",
    "color-blue": "accent",
    "color-green": "allow",
    "color-yellow": "review",
    "color-orange": "review",
    "color-red": "block",
    "color-purple": "accent",
    font: "sans",
    "font-code": "mono",
  }
  const rules = Object.entries(colours).map(([theirs, ours]) => `--scalar-${theirs}: var(--${ours})`)
  return `:root { --scalar-custom-header-height: 3.5rem } .light-mode, .dark-mode { ${rules.join("; ")} } button { min-width: 24px; min-height: 24px } body :focus-visible { outline: 2px solid var(--accent) !important; outline-offset: -2px }`
}

/**
 * The page of the docs plugin (DECISIONS 30) with the viewer at `scriptPath`, and `ownScriptPath`, which adds accessible names.
 * The plugin runs apart from our routes, from which it would generate a document of its own.
 */
export async function apiReferenceHtml(
  document: OpenApiDocument,
  scriptPath: string,
  ownScriptPath: string,
  offer: ServerOffer,
): Promise<string> {
  // With the schema library that it brings, the plugin takes as long to load as a tenth of a start.
  const { swagger } = await import("@elysiajs/swagger")
  const plugin = swagger({
    provider: "scalar",
    path: ROUTES.docs.path,
    documentation: { info: document.info },
    scalarCDN: scriptPath,
    scalarConfig: { customCss: "" },
  })
  const response = await plugin.handle(new Request(`http://localhost${ROUTES.docs.path}`))
  return completeViewerHtml(await response.text(), ownScriptPath, offer)
}

/**
 * Adds what the plugin's page lacks: a language, our header, and a notice for browsers without scripts. It also writes the
 * viewer's settings, which the plugin does not escape, and to which it adds a deprecated one.
 */
function completeViewerHtml(html: string, ownScriptPath: string, offer: ServerOffer): string {
  return new HTMLRewriter()
    .on("html", { element: element => void element.setAttribute("lang", "en") })
    .on("title", { element: element => void element.setInnerContent("API reference · mailkind") })
    .on("head", {
      element: element => {
        element.append(render(<link rel="stylesheet" href={STYLESHEET_PATH} />), { html: true })
        element.append(render(<link rel="icon" type="image/svg+xml" href={ICON_PATH} />), { html: true })
        element.append(render(<script type="module" src={ownScriptPath} />), { html: true })
      },
    })
    .on("body", {
      element: element => {
        const header = (
          <Offer.Provider value={offer}>
            <SiteHeader route="docs" />
          </Offer.Provider>
        )
        element.prepend(render(header), { html: true })
        element.append(render(<NoScriptNotice />), { html: true })
      },
    })
    .on("#api-reference", {
      element: element => {
        element.removeAttribute("data-url")
        element.setAttribute("data-configuration", JSON.stringify(VIEWER_SETTINGS))
        // The element holds configuration. Without a type the Content-Security-Policy would block it as a script.
        element.setAttribute("type", "application/json")
      },
    })
    .transform(html)
}

function NoScriptNotice() {
  return (
    <noscript>
      <p class="page">
        This page needs JavaScript. You can read the <a href={ROUTES.openapi.path}>OpenAPI document</a> instead.
      </p>
    </noscript>
  )
}
