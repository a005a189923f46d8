/** @jsxImportSource preact */
import { swagger } from "@elysiajs/swagger"
import { render } from "preact-render-to-string"
import { ROUTES } from "../../../contract/routes.ts"
import type { OpenApiDocument } from "../../openapi/openapi-document.ts"
import { ICON_PATH, STYLESHEET_PATH } from "../assets.ts"
import { SiteHeader } from "../ui/layout.tsx"

/** Nothing in the page asks another host: no proxy, no fonts, no telemetry, no agent. */
const VIEWER_SETTINGS = {
  url: ROUTES.openapi.path,
  proxyUrl: "",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  // Light or dark follows the browser, as on every other page.
  hideDarkModeToggle: true,
  showDeveloperTools: "never",
  documentDownloadType: "json",
  customCss: viewerStyles(),
}

/**
 * Room for our header, and the letters and colours of the other pages: the viewer's own greys are too pale to be read by
 * everybody, and some of its buttons too small to be hit (WCAG 2.2, 1.4.3 and 2.5.8).
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
  return `:root { --scalar-custom-header-height: 3.5rem } .light-mode, .dark-mode { ${rules.join("; ")} } button { min-width: 24px; min-height: 24px }`
}

/**
 * The page of the docs plugin with the script at `scriptPath`, and with `ownScriptPath`, which mends what that leaves out. It is asked apart from our routes, since it would write
 * a document of its own from them; here it says only how the page is made.
 */
export async function apiReferenceHtml(
  document: OpenApiDocument,
  scriptPath: string,
  ownScriptPath: string,
): Promise<string> {
  const plugin = swagger({
    provider: "scalar",
    path: ROUTES.docs.path,
    documentation: { info: document.info },
    scalarCDN: scriptPath,
    scalarConfig: { customCss: "" },
  })
  const answer = await plugin.handle(new Request(`http://localhost${ROUTES.docs.path}`))
  return completeViewerHtml(await answer.text(), ownScriptPath)
}

/**
 * Adds what the plugin's page lacks: a language, our header, words for browsers without script. The viewer's settings
 * are written here, since the plugin does not escape them and adds one that the viewer calls deprecated.
 */
function completeViewerHtml(html: string, ownScriptPath: string): string {
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
        element.prepend(render(<SiteHeader route="docs" />), { html: true })
        element.append(render(<NoScriptNotice />), { html: true })
      },
    })
    .on("#api-reference", {
      element: element => {
        element.removeAttribute("data-url")
        element.setAttribute("data-configuration", JSON.stringify(VIEWER_SETTINGS))
        // It holds a configuration and no script; without a type, the page's policy would refuse it.
        element.setAttribute("type", "application/json")
      },
    })
    .transform(html)
}

function NoScriptNotice() {
  return (
    <noscript>
      <p class="page">
        This page needs a script of this server. The same is said by the{" "}
        <a href={ROUTES.openapi.path}>OpenAPI document</a>.
      </p>
    </noscript>
  )
}
