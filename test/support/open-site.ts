import { createContext } from "../../src/assemble/context.ts"
import { guideFacts } from "../../src/assemble/licences.ts"
import { parseSettings } from "../../src/config/settings.ts"
import type { RouteId } from "../../src/contract/routes.ts"
import { TIERS } from "../../src/contract/tiers.ts"
import { Exchange } from "../../src/http/exchange.ts"
import { createCounterShard } from "../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import { createJsonResponses } from "../../src/http/response/json-responses.ts"
import { createToProblemResponse, noSuchRoute } from "../../src/http/response/problem-response.ts"
import { createRouter, type Handler } from "../../src/http/router.ts"
import { createAssets, type ReadEmbeddedAsset } from "../../src/http/site/assets.ts"
import type { GuideFacts } from "../../src/http/site/docs/guide-facts.ts"
import { guideRoutes } from "../../src/http/site/docs/guide-routes.tsx"
import type { Guards } from "../../src/http/site/guards.ts"
import { createPageResponses } from "../../src/http/site/page-responses.ts"
import { createHomePage } from "../../src/http/site/public/home-page.tsx"
import type { ListsOverview } from "../../src/http/site/public/lists-overview.tsx"
import { publicRoutes } from "../../src/http/site/public/public-routes.tsx"
import { referenceRoutes } from "../../src/http/site/reference/reference-routes.tsx"
import { createSystem } from "../../src/system/system.ts"

/** The public address of every site here. */
export const BASE_URL = "https://mail.example:8443"
/** What stands for the script of the API reference. */
export const REFERENCE_SCRIPT = "/* the script */".repeat(100)

/** The time of every site here. */
export const CLOCK_MS = Date.UTC(2026, 10, 23, 12, 30)

type SiteOptions = Partial<Parameters<typeof publicRoutes>[0]> & {
  readonly isHttps?: boolean
  readonly asset?: ReadEmbeddedAsset
  readonly guide?: GuideFacts
  readonly lists?: () => ListsOverview
}

/** What the guide tells with these settings. */
export function guideFactsFor(environment: Readonly<Record<string, string>> = {}): GuideFacts {
  const read = parseSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  return guideFacts(createContext(createSystem(), read.settings))
}

/** Builds a site; the returned function asks it for a path. */
export function openSite({
  isHttps = true,
  asset = name => new Blob([name === "reference.js" ? REFERENCE_SCRIPT : `/* ${name} */`]),
  guide,
  lists = () => LISTS_OVERVIEW,
  ...changes
}: SiteOptions = {}) {
  const own = createJsonResponses(() => "req_new", true)
  const refuse = createToProblemResponse({
    responses: own,
    baseUrl: () => BASE_URL,
    log: () => undefined,
    meter: new Meter(createCounterShard()),
  })
  const pages = createPageResponses(isHttps, () => BASE_URL, { isSignUpOpen: true, hasPricing: false })
  const allowAnonymous: Guards["allowAnonymous"] = async (exchange, handler) => {
    const result = await handler()
    return result instanceof Response ? result : pages.render(result, exchange)
  }
  const shared = {
    pages,
    guards: { allowAnonymous },
    baseUrl: () => BASE_URL,
    testDomain: changes.testDomain ?? "mailkind.test",
    guide: guide ?? guideFactsFor(),
  }
  const tiers = { tiers: TIERS.slice(0, 1), defaultTier: 0, pricing: null }
  const handlers: { readonly [R in RouteId]?: unknown } = {
    ...publicRoutes({
      ...shared,
      homePage: createHomePage({
        ...shared,
        ...tiers,
        freeChecks: null,
        securityContacts: [],
        lists,
        examples: { list: async () => [], has: () => false },
      }),
      ...tiers,
      responses: own,
      assets: createAssets(asset),
      signIn: { isSignUpOpen: true },
      securityContacts: [],
      clock: () => CLOCK_MS,
      ...changes,
    }),
    ...guideRoutes({ ...shared, files: createAssets(asset), lists, securityContacts: [], pricing: null, ...changes }),
    ...referenceRoutes({ ...shared, responses: own, assets: createAssets(asset) }),
  }
  const exchangeOf = (request: Request, route: RouteId | null, params = {}): Exchange =>
    new Exchange(request, own.requestId(request), route, params)
  const refuseWith = async (request: Request, error: unknown) => refuse(error, exchangeOf(request, null))
  const router = createRouter(
    {
      serve: async (request, route, params) => {
        const exchange = exchangeOf(request, route, params)
        const handle = handlers[route] as Handler | undefined
        try {
          return handle === undefined ? refuse(noSuchRoute(request), exchange) : await handle(exchange)
        } catch (error) {
          return refuse(error, exchange)
        }
      },
      serveElsewhere: request => refuseWith(request, noSuchRoute(request)),
      refuse: refuseWith,
    },
    {},
  )
  return (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    router.handle(new Request(`http://localhost${path}`, { headers }))
}

/** A text that would be more than text in a page. */
export const HOSTILE = `<script>alert("x")</script> & https://elsewhere.example/`

/** Lists in use, with a source that tries to be more than text; they know no domain. */
export const LISTS_OVERVIEW: ListsOverview = {
  version: "v-17",
  builtAt: "2026-11-20T06:00:00.000Z",
  refreshedAt: null,
  pinned: null,
  sets: [{ name: "relay", description: "Domains of privacy relays.", entryCount: 1234567 }],
  sources: [
    {
      ...{ id: "by-hand", setName: "relay", trust: "highest", licence: "MIT", date: "2026-11-20", entryCount: 12 },
      ...{ origin: HOSTILE, refresh: null },
    },
  ],
  lookUpDomain: () => ({ kind: "no_domain", message: "Nobody knows it." }),
}

/** A text of HTML with its entities read. */
export const unescapeHtml = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")

/** The values of an attribute in a page, in order. */
export const attributesIn = (html: string, name: "id" | "href" | "src" | "action"): readonly string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(match => unescapeHtml(match[1] ?? ""))
