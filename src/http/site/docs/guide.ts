import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import ADAPTERS from "./pages/adapters.md" with { type: "text" }
import AGENTS from "./pages/agents.md" with { type: "text" }
import ALERTS from "./pages/alerts.md" with { type: "text" }
import CLIENTS from "./pages/clients.md" with { type: "text" }
import COMMANDS from "./pages/commands.md" with { type: "text" }
import DEGRADED from "./pages/degraded.md" with { type: "text" }
import ERRORS from "./pages/errors.md" with { type: "text" }
import FIELDS from "./pages/fields.md" with { type: "text" }
import FILES from "./pages/files.md" with { type: "text" }
import FORM_SCRIPT from "./pages/form-script.md" with { type: "text" }
import IN_PROCESS from "./pages/in-process.md" with { type: "text" }
import KEYS from "./pages/keys.md" with { type: "text" }
import LEAKED_KEYS from "./pages/leaked-keys.md" with { type: "text" }
import LICENCES from "./pages/licences.md" with { type: "text" }
import LIMITS from "./pages/limits.md" with { type: "text" }
import LISTS from "./pages/lists.md" with { type: "text" }
import LOG from "./pages/log.md" with { type: "text" }
import LOG_EVENTS from "./pages/log-events.md" with { type: "text" }
import MAILS from "./pages/mails.md" with { type: "text" }
import NETWORK from "./pages/network.md" with { type: "text" }
import OPERATION from "./pages/operation.md" with { type: "text" }
import PLATFORMS from "./pages/platforms.md" with { type: "text" }
import POINT_IN_TIME from "./pages/point-in-time.md" with { type: "text" }
import POLICIES from "./pages/policies.md" with { type: "text" }
import PRIVACY from "./pages/privacy.md" with { type: "text" }
import REASONS from "./pages/reasons.md" with { type: "text" }
import REFRESHES from "./pages/refreshes.md" with { type: "text" }
import SCALING from "./pages/scaling.md" with { type: "text" }
import SECURITY from "./pages/security.md" with { type: "text" }
import SELF_HOSTING from "./pages/self-hosting.md" with { type: "text" }
import SETTINGS from "./pages/settings.md" with { type: "text" }
import SIGN_UP_FORMS from "./pages/sign-up-forms.md" with { type: "text" }
import START from "./pages/start.md" with { type: "text" }
import TEST_ADDRESSES from "./pages/test-addresses.md" with { type: "text" }
import UPGRADES from "./pages/upgrades.md" with { type: "text" }
import WHOLE_LISTS from "./pages/whole-lists.md" with { type: "text" }

const PARTS = [
  {
    part: "Start",
    pages: [
      { route: "docsStart", title: "Quick start", text: START },
      { route: "docsFields", title: "Fields of a verdict", text: FIELDS },
      { route: "docsReasons", title: "Reasons", text: REASONS },
      { route: "docsPolicies", title: "Policies", text: POLICIES },
      { route: "docsErrors", title: "Errors", text: ERRORS },
      { route: "docsDegraded", title: "Failing open", text: DEGRADED },
      { route: "docsKeys", title: "Keys and rotation", text: KEYS },
      { route: "docsLimits", title: "Limits", text: LIMITS },
      { route: "docsTestAddresses", title: "Test addresses", text: TEST_ADDRESSES },
      { route: "docs", title: "API reference", text: null },
    ],
  },
  {
    part: "Build",
    pages: [
      { route: "docsSignUpForms", title: "Sign-up forms", text: SIGN_UP_FORMS },
      { route: "docsFormScript", title: "Form script", text: FORM_SCRIPT },
      { route: "docsClients", title: "Client libraries", text: CLIENTS },
      { route: "docsAdapters", title: "Adapters", text: ADAPTERS },
      { route: "docsWholeLists", title: "Lists over the API", text: WHOLE_LISTS },
      { route: "docsAgents", title: "Agents", text: AGENTS },
      { route: "docsInProcess", title: "Inside your app", text: IN_PROCESS },
      { route: "docsFiles", title: "Lists on your machine", text: FILES },
    ],
  },
  {
    part: "Run a server",
    pages: [
      { route: "docsSelfHosting", title: "Self-hosting", text: SELF_HOSTING },
      { route: "docsPlatforms", title: "Ten minutes on your platform", text: PLATFORMS },
      { route: "docsSettings", title: "Settings", text: SETTINGS },
      { route: "docsCommands", title: "Commands", text: COMMANDS },
      { route: "docsOperation", title: "Operation", text: OPERATION },
      { route: "docsAlerts", title: "Alerts", text: ALERTS },
      { route: "docsLog", title: "The log", text: LOG },
      { route: "docsLogEvents", title: "Events of the log", text: LOG_EVENTS },
      { route: "docsMails", title: "Emails", text: MAILS },
      { route: "docsRefreshes", title: "Refreshing the lists", text: REFRESHES },
      { route: "docsUpgrades", title: "Upgrades and backups", text: UPGRADES },
      { route: "docsPointInTime", title: "Point-in-time restore", text: POINT_IN_TIME },
      { route: "docsScaling", title: "Many hosts", text: SCALING },
    ],
  },
  {
    part: "Behind the verdicts",
    pages: [
      { route: "docsLists", title: "Data sources", text: LISTS },
      { route: "docsNetwork", title: "Network", text: NETWORK },
      { route: "docsPrivacy", title: "Privacy", text: PRIVACY },
      { route: "docsSecurity", title: "Security", text: SECURITY },
      { route: "docsLeakedKeys", title: "Leaked keys", text: LEAKED_KEYS },
      { route: "docsLicences", title: "Licences", text: LICENCES },
    ],
  },
] as const satisfies readonly GuidePart[]

/** The pages of the guide by part, in the order in which they are best read. Null: the page is not made from Markdown. */
export const GUIDE: readonly GuidePart[] = PARTS

/** A part of the guide. */
type GuidePart = { readonly part: string; readonly pages: readonly GuideEntry[] }

/** A page of the guide: its route, its title, and its Markdown source. */
export type GuideEntry = { readonly route: RouteId; readonly title: string; readonly text: string | null }

/** The routes of the pages that are made from Markdown. */
export type MarkdownGuideRoute = Exclude<(typeof PARTS)[number]["pages"][number]["route"], "docs">

/** A page of the guide that is made from Markdown. */
export type MarkdownGuidePage = GuideEntry & { readonly route: MarkdownGuideRoute; readonly text: string }

const PAGES = GUIDE.flatMap(({ pages }) => pages)

/** The pages that are made from Markdown, in the order of the guide. */
export const MARKDOWN_GUIDE_PAGES: readonly MarkdownGuidePage[] = PAGES.filter(
  (page): page is MarkdownGuidePage => page.text !== null,
)

/** The page, its part, the page before it and the one after it; null: there is none. */
export function guidePageNeighbours(route: RouteId): {
  readonly part: string
  readonly page: GuideEntry
  readonly before: GuideEntry | null
  readonly after: GuideEntry | null
} {
  const index = PAGES.findIndex(page => page.route === route)
  const page = PAGES[index] ?? { route, title: "", text: null }
  const part = GUIDE.find(({ pages }) => pages.includes(page))?.part ?? ""
  return { part, page, before: PAGES[index - 1] ?? null, after: PAGES[index + 1] ?? null }
}

/** The title of the page at a path, which may end in an anchor. */
export const pageTitle = (path: string): string =>
  PAGES.find(({ route }) => ROUTES[route].path === path.replace(/#.*/, ""))?.title ?? path
