import { Deadline } from "../../base/concurrency.ts"
import { type FindingCause, known, unknown } from "../../base/finding.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { prefixedName } from "../dns/domain-name.ts"
import { type FetchErrorCause, parseFetchTarget } from "../fetch/fetch-target.ts"
import type { DeadlineView, FetchedPage, GuardedFetch, GuardedFetchResult } from "../fetch/guarded-fetch.ts"
import type { Evidence } from "../verdict/evidence.ts"
import { decodePage, type PageContent, parsePage } from "./page-parser.ts"
import { detectParking, type ParkingSignal } from "./parking-signals.ts"

/** What a domain's homepage shows, and what shows it. */
export type HomepageProbeResult = {
  readonly homepage: Evidence["homepage"]
  /** Where the page is; null: there is none. */
  readonly url: string | null
  /** The registrable domain that the homepage is under, when it is another than the one that was asked about; else null. */
  readonly movedTo: string | null
  /** What decided `parked`; null for all else. */
  readonly parkingSignal: ParkingSignal | null
  /** On the way a redirect led from https to http. */
  readonly isDowngraded: boolean
}

/**
 * Looks at the homepage of a domain, which is A-labels, lower case: by https, then by http, and where nothing is there under
 * `www` before it. It never rejects, and it settles within the budget and 5 s.
 */
export type HomepageProbe = (domain: string, budget: Deadline) => Promise<HomepageProbeResult>

/** What a homepage probe asks by; `registrableDomain` gives the registrable domain of a name. */
export type HomepageProbeDeps = {
  readonly fetchPage: GuardedFetch
  readonly setTimer: SetTimer
  readonly registrableOf: (name: string) => string
}

/** For all that is asked of one domain. */
const HOMEPAGE_TIMEOUT_MS = 5000

/** Builds a homepage probe. */
export function createHomepageProbe(needs: HomepageProbeDeps): HomepageProbe {
  return async (domain, budget) => {
    const own = new Deadline(needs.setTimer, HOMEPAGE_TIMEOUT_MS)
    const both: DeadlineView = {
      wait: (promised, late) => budget.wait(own.wait(promised, late), late),
      get isExpired() {
        return own.isExpired || budget.isExpired
      },
    }
    const looked = await both.wait(probeUrls(needs, domain, both), HOMEPAGE_TIMED_OUT)
    own.cancel()
    return looked
  }
}

const withoutPage = (homepage: HomepageProbeResult["homepage"]): HomepageProbeResult => ({
  homepage,
  url: null,
  movedTo: null,
  parkingSignal: null,
  isDowngraded: false,
})

const NO_HOMEPAGE = withoutPage(known("none"))
const HOMEPAGE_TIMED_OUT = withoutPage(unknown("timed_out"))

/** The first page that is there counts. Where none is, what could not be asked weighs more than what is not there. */
async function probeUrls(needs: HomepageProbeDeps, domain: string, budget: DeadlineView): Promise<HomepageProbeResult> {
  let failed: HomepageProbeResult | null = null
  for (const url of homepageUrls(domain)) {
    if (budget.isExpired) return HOMEPAGE_TIMED_OUT
    const found = classifyFetch(needs, domain, await needs.fetchPage(url, budget))
    if (found.homepage.known && found.homepage.value !== "none") return found
    if (!found.homepage.known) failed ??= found
  }
  return failed ?? NO_HOMEPAGE
}

function homepageUrls(domain: string): readonly string[] {
  const www = domain.startsWith("www.") ? null : prefixedName("www", domain)
  const hosts = www === null ? [domain] : [domain, www]
  return hosts.flatMap(host => [`https://${host}/`, `http://${host}/`])
}

function classifyFetch(
  { registrableOf }: HomepageProbeDeps,
  domain: string,
  fetched: GuardedFetchResult,
): HomepageProbeResult {
  const { redirectChain } = fetched
  const url = redirectChain.at(-1) ?? null
  const page = fetched.known ? readFetchedPage(fetched.value, url ?? "") : EMPTY_PAGE
  // Where the way leads to tells enough, even if the last step is not let us through.
  const parkingSignal = detectParking({ domain, redirectChain, page, registrableOf })
  const homepage = parkingSignal === null ? homepageState(fetched, page) : known("parked" as const)
  const isThere = homepage.known && homepage.value !== "none"
  if (!isThere) return withoutPage(homepage)
  const at = parseFetchTarget(url ?? "")
  // The last step may have been refused, and be no name at all.
  const registrable = registrableOf(typeof at === "string" ? domain : at.host)
  const movedTo = registrable === registrableOf(domain) ? null : registrable
  return { homepage, url, movedTo, parkingSignal, isDowngraded: fetched.known && fetched.value.isDowngraded }
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

/** A page that is no text, such as a picture or a document, has content, but nothing that is read. */
function readFetchedPage({ body, contentType }: FetchedPage, url: string): PageContent {
  if (contentType === null || TEXT_CONTENT_TYPE.test(contentType)) return parsePage(decodePage(body, contentType), url)
  return { ...EMPTY_PAGE, hasContent: body.length > 0 }
}

/** A website that does not let everybody in is one all the same. */
const RESTRICTED_STATUSES: ReadonlySet<number> = new Set([401, 403, 405, 406, 407, 429, 451])
const GONE_STATUSES: ReadonlySet<number> = new Set([404, 410])

function homepageState(fetched: GuardedFetchResult, { hasContent }: PageContent): HomepageProbeResult["homepage"] {
  if (!fetched.known) {
    const fate = STATE_OF_FETCH_ERROR[fetched.cause]
    return fate === "none" ? known("none") : unknown(fate)
  }
  const { status } = fetched.value
  if (status >= 200 && status < 300) return known(hasContent ? "found" : "none")
  if (RESTRICTED_STATUSES.has(status)) return known("found")
  return GONE_STATUSES.has(status) ? known("none") : unknown("unavailable")
}

/** What a fetch without a page says of the website. */
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
  failed: "unavailable",
}
