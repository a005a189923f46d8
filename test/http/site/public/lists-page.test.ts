import { describe, expect, test } from "bun:test"
import type { LoadedLists } from "../../../../src/check/domain-lookup.ts"
import { LISTING_RULES } from "../../../../src/check/lists/listing-rules.ts"
import { SOURCE_OUTCOMES, type SourceOutcome } from "../../../../src/check/refresh/refresh-state.ts"
import { CATEGORY_NAMES } from "../../../../src/contract/categories.ts"
import { REPORTABLE_CATEGORIES } from "../../../../src/contract/feedback-schema.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { listsOverview } from "../../../../src/http/site/public/lists-overview.tsx"
import { knownSmall } from "../../../check/known-small.ts"
import { attributesIn, BASE_URL, HOSTILE, openSite, unescapeHtml } from "../../../support/open-site.ts"

const known = knownSmall({
  "new.com": [{ set: "disposable", source: "here", outcome: "kept", since: "2026-11-21" }],
  "old.com": [
    { set: "personal", source: "elsewhere", outcome: "disposable_beats_long_tail", since: null },
    { set: "disposable", source: "here", outcome: "kept", since: null },
  ],
  "seen.com": [{ set: "disposable", source: "abused", outcome: "kept", since: "2026-11-21", lastSeen: "2026-11-23" }],
  "ci.*.*.us": [{ set: "government_suffix", source: "here", outcome: "kept", since: null }],
})

/** The page over some lists, asked with a query. */
const pageOf = (query: string, lists: LoadedLists = known): Promise<Response> =>
  openSite({ lists: () => listsOverview(lists) })(`${ROUTES.docsLists.path}${query}`)

/** A page for a text in the field. */
const request = async (text: string, lists?: LoadedLists): Promise<string> =>
  (await pageOf(`?domain=${encodeURIComponent(text)}`, lists)).text()

/** The words of a page or a part of it. */
const words = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, "")).replaceAll(/\s+/g, " ")

/** The words of the card. */
const verdictOf = (html: string): string =>
  unescapeHtml((html.match(/<section class="verdict-area.*?<\/section>/s)?.[0] ?? "").replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim()

/** The words of the first row with a text. */
const rowWith = (html: string, text: string): string =>
  words(html.match(/<tr.*?<\/tr>/gs)?.find(row => words(row).includes(text)) ?? "")

const fieldOf = (html: string): string => html.match(/<input[^>]*>/)?.[0] ?? ""

/** What the field of a page holds. */
const textIn = (html: string): string => fieldOf(html).match(/ value="([^"]*)"/)?.[1] ?? ""

describe("the field", () => {
  test("has a label, a hint and a button, and sends a domain to this page without a script", async () => {
    const html = await (await pageOf("")).text()
    expect(html).toMatch(/<form [^>]*method="get" action="\/docs\/lists"/)
    expect(html).toContain('<label class="unseen" for="domain">')
    expect(fieldOf(html)).toMatch(/ id="domain" name="domain"/)
    expect(attributesIn(html, "id")).toContain(fieldOf(html).match(/aria-describedby="([^"]*)"/)?.[1] ?? "")
    expect(html).toContain('<button type="submit">')
    expect(html).not.toContain('id="verdict"')
    expect(html.match(/<script [^>]*src="[^"]*lists/)).toBeNull()
  })

  test("holds the domain that was looked up, as it was read", async () => {
    expect(textIn(await request(" OLD.com. "))).toBe("old.com")
  })
})

describe("the answer", () => {
  test("says what holds, why, by whom, since when and under which licence", async () => {
    const html = await request("old.com")
    expect(verdictOf(html)).toBe(
      "old.com Disposable The domain is on the disposable list. These are the lists alone. A check also uses accepted reports, own lists and DNS. " +
        "Named by 1 of 3 lists Deciding entry old.com Set disposable Reason disposable_domain",
    )
    expect(rowWith(html, "old.com as disposable")).toBe("hereold.com as disposableon or before 20 Nov 2026MIT")
    const dropped = rowWith(html, "old.com as personal")
    expect(dropped).toContain(LISTING_RULES.disposable_beats_long_tail)
    expect(dropped).toEndWith("not knownISC")
    expect(rowWith(await request("new.com"), "new.com as disposable")).toEndWith("21 Nov 2026MIT")
  })

  test("tells of what is abused now when it was first and last seen, and until when it counts", async () => {
    const row = rowWith(await request("seen.com"), "seen.com as disposable")
    expect(row).toContain("21 Nov 2026last seen 23 Nov 2026, counts until 22 May 2027")
  })

  test("names the pattern that decides", async () => {
    expect(verdictOf(await request("ci.austin.tx.us"))).toContain("Deciding entry ci.*.*.us Set government_suffix")
  })

  test.each([
    ["acme.com", "acme.com On no list", "The domain is on no list"],
    ["co.uk", "co.uk Invalid", "public suffix"],
    ["acme.cmo", "acme.cmo Invalid", "top-level domain does not exist"],
  ])("of %s, which no source lists, says so", async (domain, head, why) => {
    const text = verdictOf(await request(domain))
    expect(text).toStartWith(head)
    expect(text).toContain("Named by none of 3 lists")
    expect(text).toContain(why)
  })

  test("stands above the sets, and its links lead to rows of the page and to reasons", async () => {
    const html = await request("old.com")
    const ids = attributesIn(html, "id")
    expect(ids).toEqual([...new Set(ids)])
    expect(ids.indexOf("verdict")).toBeLessThan(ids.indexOf("sets"))
    const links = attributesIn(html, "href")
    for (const anchor of ["#source-here", "#source-elsewhere", "#set-disposable"]) expect(links).toContain(anchor)
    for (const link of links.filter(link => link.startsWith("#"))) expect(ids).toContain(link.slice(1))
    expect(links).toContain(`${ROUTES.docsReasons.path}#disposable_domain`)
  })

  test("is kept by nobody", async () => {
    const { status, headers } = await pageOf("?domain=old.com")
    expect(status).toBe(200)
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("referrer-policy")).toBe("same-origin")
    expect(headers.get("content-security-policy")).toStartWith("default-src 'none'")
  })
})

describe("what was sent", () => {
  test("as an address is answered by its domain, and no page holds it", async () => {
    for (const text of ["jane.doe+news@old.com", '"jane doe"@old.com', `${"jane".repeat(200)}@old.com`]) {
      const html = await request(text)
      expect(verdictOf(html)).toStartWith("old.com Disposable")
      expect(html).not.toContain("jane")
    }
  })

  test.each([
    HOSTILE,
    `"><img src=x onerror=alert(1)>`,
    "jane doe",
    "jane@",
    "jane%40old.com",
    "old.com\u0000",
    "old.com\r\nSet-Cookie: jane=1",
    "[192.0.2.1]",
    "jane.".repeat(60),
    "",
  ])("as %j is no domain: the field is empty, says so, and nothing is repeated", async text => {
    const html = await request(text)
    expect(words(html)).toContain("This is not a domain.")
    expect(textIn(html)).toBe("")
    expect(fieldOf(html)).toContain('aria-invalid="true"')
    for (const id of fieldOf(html)
      .match(/aria-describedby="([^"]*)"/)?.[1]
      ?.split(" ") ?? [])
      expect(attributesIn(html, "id")).toContain(id)
    expect(html).not.toMatch(/jane|onerror|<script>/)
    expect(html).not.toContain('id="verdict"')
  })

  test.each(["?domain=old.com&domain=jane.com", "?domain=old.com&domain=old.com"])(
    "twice (%s) is answered by none",
    async query => {
      const html = await (await pageOf(query)).text()
      expect(words(html)).toContain("Look up one domain at a time.")
      expect(html).not.toMatch(/id="verdict"|jane/)
    },
  )

  test("under another name, or in bytes that are no text, does no harm", async () => {
    expect(await (await pageOf("?other=jane")).text()).not.toMatch(/id="verdict"|That is no domain|jane/)
    expect((await pageOf("?domain=%E0%A4%A&x=%")).status).toBe(200)
    expect(words(await (await pageOf("?domain=%FF.com")).text())).toContain("This is not a domain.")
  })
})

describe("a mistake", () => {
  /** The body of the report that a page proposes. */
  const reportOf = (html: string) => JSON.parse(words(html).match(/-d '(\{.*?\})'/)?.[1] ?? "")

  test("is reported for the domain that was looked up, with another category", async () => {
    const html = await request("old.com")
    expect(words(html)).toContain(`curl -s '${BASE_URL}${ROUTES.postFeedback.path}'`)
    expect(reportOf(html)).toEqual({ domain: "old.com", expected_category: CATEGORY_NAMES[0] })
    expect(html).toContain("mailkind allow add old.com")
    expect(html).toContain("mailkind block add old.com")
    expect(reportOf(await request("stripe.com")).domain).toBe("stripe.com")
  })

  test("is shown by an example where no domain was looked up, or none that can exist", async () => {
    for (const html of [await (await pageOf("")).text(), await request("no domain"), await request("co.uk")])
      expect(reportOf(html).domain).toBe("example.com")
  })

  test("is never reported as what the verdict is already, nor as what cannot be reported", async () => {
    const organisation = knownSmall({
      "firm.com": [{ set: "organisation", source: "here", outcome: "kept", since: null }],
    })
    const { expected_category: expected } = reportOf(await request("firm.com", organisation))
    expect(expected).not.toBe("business")
    expect(REPORTABLE_CATEGORIES).toContain(expected)
  })
})

describe("the last refresh", () => {
  const AT_MS = Date.UTC(2026, 10, 22, 3, 12)
  const refreshed = (outcome: SourceOutcome, description: string, pinned: string | null = null): LoadedLists => ({
    ...known,
    refreshState: {
      ...known.refreshState,
      refreshed_at_ms: AT_MS,
      pinned,
      sources: {
        here: {
          url: "https://inside.example/?token=1",
          outcome,
          says: description,
          checked_at_ms: AT_MS,
          changed_at_ms: null,
        },
      },
    },
  })
  const rowOf = (html: string, id: string): string =>
    words(html.match(new RegExp(`<details id="source-${id}">.*?</details>`, "s"))?.[0] ?? "")

  test("that never was is told, and sources are built in or not there yet", async () => {
    const html = await (await pageOf("")).text()
    expect(words(html)).toContain("Refreshednever")
    expect(rowOf(html, "here")).toContain("never, it is built in")
    expect(rowOf(html, "elsewhere")).toContain("the first refresh downloads it")
  })

  test("is told with its time, and each source with what became of it; where it is asked is nobody's business", async () => {
    const facts = await Promise.all(
      SOURCE_OUTCOMES.map(async outcome => (await pageOf("", refreshed(outcome, ""))).text()),
    )
    for (const html of facts) {
      expect(html).toContain('<time datetime="2026-11-22T03:12:00.000Z">22 Nov 2026, 03:12 UTC</time>')
      expect(html).not.toContain("inside.example")
    }
    expect(new Set(facts.map(html => rowOf(html, "here"))).size).toBe(SOURCE_OUTCOMES.length)
  })

  test("that refused a source says why, as text", async () => {
    const html = await (await pageOf("", refreshed("refused", HOSTILE))).text()
    expect(rowOf(html, "here")).toContain(`${HOSTILE}refused`)
    expect(html).not.toContain("<script>")
  })

  test("says which names of a source were left out, as text", async () => {
    const { refreshState, ...lists } = refreshed("taken", "")
    const sources = Object.fromEntries(
      Object.entries(refreshState.sources).map(([id, state]) => [
        id,
        { ...state, left_out: { count: 1, names: ["gmail.com"] } },
      ]),
    )
    const html = await (await pageOf("", { ...lists, refreshState: { ...refreshState, sources } })).text()
    expect(rowOf(html, "here")).toMatch(/It lists gmail\.com, which .* left out\./)
  })

  test("says that a version is pinned, only when one is", async () => {
    expect(words(await (await pageOf("", refreshed("taken", "", "v1"))).text())).toContain("Pinned")
    expect(words(await (await pageOf("", refreshed("taken", ""))).text())).not.toContain("Pinned")
  })
})
