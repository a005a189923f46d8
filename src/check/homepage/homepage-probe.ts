import { Deadline } from "../../base/concurrency.ts"
import { type FindingCause, known, unknown } from "../../base/finding.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { prefixedName } from "../dns/domain-name.ts"
import { type FetchErrorCause, parseFetchTarget } from "../fetch/fetch-target.ts"
import type { DeadlineView, FetchedPage, GuardedFetch, GuardedFetchResult } from "../fetch/guarded-fetch.ts"
import type { Evidence } from "../verdict/evidence.ts"
import { decodePage, type PageContent, parsePage } from "./page-parser.ts"
import { detectParking, type ParkingSignal } from "./parking-signals.ts"

/** What a domain's homepage is, and the evidence for it. */
export type HomepageProbeResult = {
  readonly homepage: Evidence["homepage"]
  /** The URL of the page, after redirects; null: there is none. */
  readonly url: string | null
  /** The registrable domain of the page, if it is another than that of the domain; null: it is not. */
  readonly movedTo: string | null
  /** The signal that decided `parked`; null: the homepage is not parked. */
  readonly parkingSignal: ParkingSignal | null
  /** A redirect went from https to http. */
  readonly isDowngraded: boolean
  /** A server of the domain's choice was contacted, or may have been. */
  readonly wasFetched: boolean
}

/**
 * Probes the homepage of a domain, which is A-labels, lower case: by https, then by http, and if there is no page, the same with
 * `www.` before the domain. It never rejects, and settles within the deadline and 5 s.
 */
export type HomepageProbe = (domain: string, budget: Deadline) => Promise<HomepageProbeResult>

/** What a homepage probe needs. */
export type HomepageProbeDeps = {
  readonly fetchPage: GuardedFetch
  readonly setTimer: SetTimer
  /** The registrable domain of a name. */
  readonly registrableOf: (name: string) => string
}

/** For all requests of one domain. */
const HOMEPAGE_TIMEOUT_MS = 5000

/** Builds a homepage probe. */
export function createHomepageProbe(deps: HomepageProbeDeps): HomepageProbe {
  return async (domain, deadline) => {
    const own = new Deadline(deps.setTimer, HOMEPAGE_TIMEOUT_MS)
    const both: DeadlineView = {
      wait: (promise, fallback) => deadline.wait(own.wait(promise, fallback), fallback),
      get isExpired() {
        return own.isExpired || deadline.isExpired
      },
    }
    const result = await both.wait(probeUrls(deps, domain, both), HOMEPAGE_TIMED_OUT)
    own.cancel()
    return result
  }
}

const withoutPage = (homepage: HomepageProbeResult["homepage"]): HomepageProbeResult => ({
  homepage,
  url: null,
  movedTo: null,
  parkingSignal: null,
  isDowngraded: false,
  wasFetched: true,
})

const NO_HOMEPAGE = withoutPage(known("none"))
const HOMEPAGE_TIMED_OUT = withoutPage(unknown("timed_out"))

/** The first page counts. Without a page, a failure counts more than the lack of a page, which it may hide. */
async function probeUrls(
  deps: HomepageProbeDeps,
  domain: string,
  deadline: DeadlineView,
): Promise<HomepageProbeResult> {
  let failure: HomepageProbeResult | null = null
  let wasFetched = false
  for (const url of homepageUrls(domain)) {
    if (deadline.isExpired) return HOMEPAGE_TIMED_OUT
    const fetchResult = await deps.fetchPage(url, deadline)
    wasFetched ||= fetchResult.known || fetchResult.redirectChain.length > 1 || !NOT_SENT.has(fetchResult.cause)
    const result = classifyFetch(deps, domain, fetchResult)
    if (result.homepage.known && result.homepage.value !== "none") return result
    if (!result.homepage.known) failure ??= result
  }
  return { ...(failure ?? NO_HOMEPAGE), wasFetched }
}

/** Failures before the first connection. */
const NOT_SENT: ReadonlySet<FetchErrorCause> = new Set(["no_address", "not_public", "bad_host", "dns_unavailable"])

function homepageUrls(domain: string): readonly string[] {
  const www = domain.startsWith("www.") ? null : prefixedName("www", domain)
  const hosts = www === null ? [domain] : [domain, www]
  return hosts.flatMap(host => [`https://${host}/`, `http://${host}/`])
}

function classifyFetch(
  { registrableOf }: HomepageProbeDeps,
  domain: string,
  fetchResult: GuardedFetchResult,
): HomepageProbeResult {
  const { redirectChain } = fetchResult
  const url = redirectChain.at(-1) ?? null
  const page = fetchResult.known ? readFetchedPage(fetchResult.value, url ?? "") : EMPTY_PAGE
  // The redirects alone may show a parked domain, even if the last one was refused.
  const parkingSignal = detectParking({ domain, redirectChain, page, registrableOf })
  const homepage = parkingSignal === null ? homepageState(fetchResult, page) : known("parked" as const)
  const hasPage = homepage.known && homepage.value !== "none"
  if (!hasPage) return withoutPage(homepage)
  const target = parseFetchTarget(url ?? "")
  // The last redirect may have been refused because its host is no name.
  const registrable = registrableOf(typeof target === "string" ? domain : target.host)
  const movedTo = registrable === registrableOf(domain) ? null : registrable
  return {
    homepage,
    url,
    movedTo,
    parkingSignal,
    isDowngraded: fetchResult.known && fetchResult.value.isDowngraded,
    wasFetched: true,
  }
}

const TEXT_CONTENT_TYPE = /^\s*(?:text\/|application\/(?:xhtml\+)?xml\b)/i
const EMPTY_PAGE: PageContent = {
  title: "",
  blocks: [],
  isTruncated: false,
  destinationUrls: [],
  resourceUrls: [],
  linkUrls: [],
  hasContent: false,
}

/** A page that is no text, such as an image, has content that is not parsed. */
function readFetchedPage({ body, contentType }: FetchedPage, url: string): PageContent {
  if (contentType === null || TEXT_CONTENT_TYPE.test(contentType)) return parsePage(decodePage(body, contentType), url)
  return { ...EMPTY_PAGE, hasContent: body.length > 0 }
}

/** A website that refuses us is a website. */
const RESTRICTED_STATUSES: ReadonlySet<number> = new Set([401, 403, 405, 406, 407, 429, 451])
const GONE_STATUSES: ReadonlySet<number> = new Set([404, 410])

function homepageState(fetchResult: GuardedFetchResult, { hasContent }: PageContent): HomepageProbeResult["homepage"] {
  if (!fetchResult.known) {
    const state = STATE_OF_FETCH_ERROR[fetchResult.cause]
    return state === "none" ? known("none") : unknown(state)
  }
  const { status } = fetchResult.value
  if (status >= 200 && status < 300) return known(hasContent ? "found" : "none")
  if (RESTRICTED_STATUSES.has(status)) return known("found")
  return GONE_STATUSES.has(status) ? known("none") : unknown("unavailable")
}

/** What a failed fetch says about the homepage. */
const STATE_OF_FETCH_ERROR: {
  readonly [C in FetchErrorCause]: "none" | Exclude<FindingCause, "not_asked" | "pending">
} = {
  no_address: "none",
  refused: "none",
  not_public: "none",
  bad_url: "unavailable",
  bad_scheme: "unavailable",
  has_credentials: "unavailable",
  bad_port: "unavailable",
  ip_host: "unavailable",
  bad_host: "none",
  dns_unavailable: "unavailable",
  unreachable: "unavailable",
  untrusted: "unavailable",
  broken_off: "unavailable",
  not_http: "unavailable",
  too_long: "unavailable",
  bad_coding: "unavailable",
  too_many_redirects: "unavailable",
  timed_out: "timed_out",
  outside_off: "unavailable",
  failed: "unavailable",
}
