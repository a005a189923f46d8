import { Elysia } from "elysia"
import { guideFacts } from "../../../src/assemble-supply.ts"
import { readSettings } from "../../../src/config/settings.ts"
import { answers } from "../../../src/http/answer.ts"
import { refusing, unrouted } from "../../../src/http/errors.ts"
import { ExtraHeaders } from "../../../src/http/extra-headers.ts"
import { ownColumn } from "../../../src/http/metrics/columns.ts"
import { Meter } from "../../../src/http/metrics/meter.ts"
import { assets, type Embedded } from "../../../src/http/site/assets.ts"
import { type GuideFacts, guideRoutes } from "../../../src/http/site/docs/guide-routes.tsx"
import type { ListsInUse } from "../../../src/http/site/lists-page.tsx"
import { pageAnswers } from "../../../src/http/site/page-answers.ts"
import { siteRoutes } from "../../../src/http/site/site.tsx"
import { realWorld } from "../../../src/world.ts"

/** The public address of every site here. */
export const BASE_URL = "https://mail.example:8443"
/** What stands for the script of the API reference. */
export const SCRIPT = "/* the viewer */".repeat(100)

type Changes = Partial<Parameters<typeof siteRoutes>[0]> & {
  readonly isHttps?: boolean
  readonly asset?: Embedded
  readonly guide?: GuideFacts
}

/** What the guide tells with these settings. */
export function guideOf(environment: Readonly<Record<string, string>> = {}): GuideFacts {
  const read = readSettings(environment)
  if (read.kind === "faulty") throw new Error(read.faults.join())
  return guideFacts(realWorld(), read.settings)
}

/** Builds a site; the returned function asks it for a path. */
export function site({
  isHttps = true,
  asset = name => new Blob([name === "scalar.js" ? SCRIPT : `/* ${name} */`]),
  guide,
  ...changes
}: Changes = {}) {
  const own = answers(() => "req_new", true)
  const refuse = refusing({
    answers: own,
    baseUrl: () => BASE_URL,
    log: () => undefined,
    extras: new ExtraHeaders(),
    meter: new Meter(ownColumn()),
  })
  const app = new Elysia({ normalize: false, strictPath: true })
    .onError(({ error, code, request }) => refuse(code === "NOT_FOUND" ? unrouted(request) : error, request))
    .use(
      siteRoutes({
        answers: own,
        baseUrl: () => BASE_URL,
        testDomain: "mailkind.test",
        pages: pageAnswers(own.requestId, isHttps),
        files: assets(asset),
        lists: () => LISTS,
        freeChecks: null,
        ...changes,
      }),
    )
    .use(
      guideRoutes({
        pages: pageAnswers(own.requestId, isHttps),
        files: assets(asset),
        baseUrl: () => BASE_URL,
        testDomain: "mailkind.test",
        guide: guide ?? guideOf(),
      }),
    )
  return (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    app.handle(new Request(`http://localhost${path}`, { headers }))
}

/** A text that would be more than text in a page. */
export const HOSTILE = `<script>alert("x")</script> & https://elsewhere.example/`

/** Lists in use, with a source that tries to be more than text; they know no domain. */
export const LISTS: ListsInUse = {
  version: "v-17",
  builtAt: "2026-11-20T06:00:00.000Z",
  refreshedAt: null,
  isPaused: false,
  sets: [{ name: "relay", says: "Domains of privacy relays.", entryCount: 1234567 }],
  sources: [
    {
      ...{ id: "by-hand", fills: "relay", trust: "highest", licence: "MIT", date: "2026-11-20", entryCount: 12 },
      ...{ origin: HOSTILE, refresh: null },
    },
  ],
  lookUp: () => ({ kind: "no_domain", says: "Nobody knows it." }),
}

/** A text of HTML with its entities read. */
export const unescaped = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")

/** The values of an attribute in a page, in order. */
export const attributes = (html: string, name: "id" | "href" | "src"): readonly string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(match => unescaped(match[1] ?? ""))
