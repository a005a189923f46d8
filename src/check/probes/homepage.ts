import { Budget } from "../../base/budget.ts"
import { type Cause, known, unknown } from "../../base/finding.ts"
import type { Later } from "../../base/timer.ts"
import type { Evidence } from "../verdict/evidence.ts"
import type { FetchCause } from "./fetch-fault.ts"
import { fetchTarget } from "./fetch-target.ts"
import type { Fetched, GuardedFetch, Page, Within } from "./guarded-fetch.ts"
import { type Mark, markOf } from "./homepage-marks.ts"
import { nameUnder } from "./host-name.ts"
import { type PageReading, readPage } from "./page-reading.ts"
import { pageText } from "./page-text.ts"

/** What a domain's homepage shows, and what shows it. */
export type HomepageFound = {
  readonly homepage: Evidence["homepage"]
  /** Where the page is; null: there is none. */
  readonly url: string | null
  /** The registrable domain that the homepage is under, when it is another than the one that was asked about; else null. */
  readonly movedTo: string | null
  /** What decided `parked`; null for all else. */
  readonly mark: Mark | null
  /** On the way a redirect led from https to http. */
  readonly isDowngraded: boolean
}

/**
 * Looks at the homepage of a domain, which is A-labels, lower case: by https, then by http, and where nothing is there under
 * `www` before it. It never rejects, and it settles within the budget and 5 s.
 */
export type HomepageProbe = (domain: string, budget: Budget) => Promise<HomepageFound>

/** What a homepage probe asks by; `registrableOf` gives the registrable domain of a name. */
export type HomepageProbeNeeds = {
  readonly visit: GuardedFetch
  readonly later: Later
  readonly registrableOf: (name: string) => string
}

/** For all that is asked of one domain. */
const TIMEOUT_MS = 5000

/** Builds a homepage probe. */
export function homepageProbe(needs: HomepageProbeNeeds): HomepageProbe {
  return async (domain, budget) => {
    const own = new Budget(needs.later, TIMEOUT_MS)
    const both: Within = {
      wait: (promised, late) => budget.wait(own.wait(promised, late), late),
      get isOver() {
        return own.isOver || budget.isOver
      },
    }
    const looked = await both.wait(look(needs, domain, both), LATE)
    own.end()
    return looked
  }
}

const nothing = (homepage: HomepageFound["homepage"]): HomepageFound => ({
  homepage,
  url: null,
  movedTo: null,
  mark: null,
  isDowngraded: false,
})

const NONE = nothing(known("none"))
const LATE = nothing(unknown("timed_out"))

/** The first page that is there counts. Where none is, what could not be asked weighs more than what is not there. */
async function look(needs: HomepageProbeNeeds, domain: string, budget: Within): Promise<HomepageFound> {
  let failed: HomepageFound | null = null
  for (const url of urlsOf(domain)) {
    if (budget.isOver) return LATE
    const found = judged(needs, domain, await needs.visit(url, budget))
    if (found.homepage.known && found.homepage.value !== "none") return found
    if (!found.homepage.known) failed ??= found
  }
  return failed ?? NONE
}

function urlsOf(domain: string): readonly string[] {
  const www = domain.startsWith("www.") ? null : nameUnder("www", domain)
  const hosts = www === null ? [domain] : [domain, www]
  return hosts.flatMap(host => [`https://${host}/`, `http://${host}/`])
}

function judged({ registrableOf }: HomepageProbeNeeds, domain: string, fetched: Fetched): HomepageFound {
  const { trail } = fetched
  const url = trail.at(-1) ?? null
  const page = fetched.known ? readingOf(fetched.value, url ?? "") : NOTHING_READ
  // Where the way leads to tells enough, even if the last step is not let us through.
  const mark = markOf({ domain, trail, page, registrableOf })
  const homepage = mark === null ? withoutMark(fetched, page) : known("parked" as const)
  const isThere = homepage.known && homepage.value !== "none"
  if (!isThere) return nothing(homepage)
  const at = fetchTarget(url ?? "")
  // The last step may have been refused, and be no name at all.
  const registrable = registrableOf(typeof at === "string" ? domain : at.name)
  const movedTo = registrable === registrableOf(domain) ? null : registrable
  return { homepage, url, movedTo, mark, isDowngraded: fetched.known && fetched.value.isDowngraded }
}

const TEXT = /^\s*(?:text\/|application\/(?:xhtml\+)?xml\b)/i
const NOTHING_READ: PageReading = {
  title: "",
  blocks: [],
  isLong: false,
  leadsTo: [],
  loads: [],
  linksTo: [],
  hasContent: false,
}

/** A page that is no text, such as a picture or a document, has content, but nothing that is read. */
function readingOf({ body, contentType }: Page, url: string): PageReading {
  if (contentType === null || TEXT.test(contentType)) return readPage(pageText(body, contentType), url)
  return { ...NOTHING_READ, hasContent: body.length > 0 }
}

/** A website that does not let everybody in is one all the same. */
const SHUT: ReadonlySet<number> = new Set([401, 403, 405, 406, 407, 429, 451])
const GONE: ReadonlySet<number> = new Set([404, 410])

function withoutMark(fetched: Fetched, { hasContent }: PageReading): HomepageFound["homepage"] {
  if (!fetched.known) {
    const fate = WITHOUT_PAGE[fetched.cause]
    return fate === "none" ? known("none") : unknown(fate)
  }
  const { status } = fetched.value
  if (status >= 200 && status < 300) return known(hasContent ? "found" : "none")
  if (SHUT.has(status)) return known("found")
  return GONE.has(status) ? known("none") : unknown("unavailable")
}

/** What a fetch without a page says of the website. */
const WITHOUT_PAGE: { readonly [C in FetchCause]: "none" | Exclude<Cause, "not_asked" | "pending"> } = {
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
