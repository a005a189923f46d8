import { expect, test } from "bun:test"
import { isoDate, utcDay } from "../../../../src/base/time.ts"
import { NO_LIST_MATCH } from "../../../../src/check/lists/list-match.ts"
import { openPack } from "../../../../src/check/lists/pack/pack.ts"
import { CLASSES_MAX } from "../../../../src/check/lists/pack/pack-format.ts"
import { writePack } from "../../../../src/check/lists/pack/pack-writer.ts"
import { openedPack, smallContents, smallPack } from "./small-pack.ts"

const pack = openedPack(
  smallPack({
    "mailinator.com": ["disposable"],
    "good.mailinator.com": ["organisation"],
    "co.uk": ["!disposable"],
    "edu.pl": ["education_suffix"],
    "gov.uk": ["government_suffix"],
    "stripe.com": ["organisation", "education"],
    "dropped.com": ["!disposable"],
    "*.bremen.de": ["government_suffix"],
    "ci.*.*.us": ["government_suffix"],
    "ci.odd.tx.us": ["education"],
    uk: ["disposable"],
  }),
)

const sets = (domain: string, registrable: string | null) => pack.match(domain, registrable).sets

test("a name matches itself and its subdomains, but not above the registrable domain", () => {
  expect(sets("mailinator.com", "mailinator.com")).toEqual(["disposable"])
  expect(sets("a.b.mailinator.com", "mailinator.com")).toEqual(["disposable"])
  expect(sets("mailinator.com", "com")).toEqual(["disposable"])
  expect(sets("a.mailinator.com", "a.mailinator.com")).toEqual([])
  expect(sets("mailinator.com", null)).toEqual([])
})

test("a name that is a public suffix does not match names registered under it", () => {
  expect(sets("acme.co.uk", "acme.co.uk")).toEqual([])
})

test("names match at label boundaries only", () => {
  for (const name of [
    "xmailinator.com",
    "mailinator.com.de",
    "ailinator.com",
    "mailinator.co",
    "mailinator-com",
    "mailinator.comm",
  ])
    expect(pack.match(name, name)).toBe(NO_LIST_MATCH)
})

test("only the most specific entry matches, and is returned", () => {
  const listed = pack.match("x.good.mailinator.com", "mailinator.com")
  expect(listed.sets).toEqual(["organisation"])
  expect(listed.entry).toBe("good.mailinator.com")
  expect(listed.has("disposable")).toBe(false)
})

test("all sets of one level match together", () => {
  expect(sets("www.stripe.com", "stripe.com")).toEqual(["education", "organisation"])
})

test("a suffix matches itself and all subdomains, whatever the registrable domain", () => {
  expect(sets("pw.edu.pl", "pw.edu.pl")).toEqual(["education_suffix"])
  expect(sets("gov.uk", "gov.uk")).toEqual(["government_suffix"])
  expect(sets("gov.uk", null)).toEqual(["government_suffix"])
  expect(sets("a.b.gov.uk", "b.gov.uk")).toEqual(["government_suffix"])
})

test("a star in a suffix matches exactly one label", () => {
  expect(pack.match("www.ci.austin.tx.us", "austin.tx.us").entry).toBe("ci.*.*.us")
  expect(sets("ci.austin.tx.us", "austin.tx.us")).toEqual(["government_suffix"])
  expect(sets("ci.tx.us", "ci.tx.us")).toEqual([])
  expect(sets("xci.austin.tx.us", "austin.tx.us")).toEqual([])
  expect(sets("amt.bremen.de", "bremen.de")).toEqual(["government_suffix"])
  expect(sets("bremen.de", "bremen.de")).toEqual([])
})

test("an entry and a suffix pattern of the same level match together", () => {
  const listed = pack.match("ci.odd.tx.us", "odd.tx.us")
  expect(listed.sets).toEqual(["government_suffix", "education"])
  expect(listed.entry).toBe("ci.odd.tx.us")
})

test("of a name and a suffix pattern the more specific one matches", () => {
  const both = openedPack(
    smallPack({
      "austin.tx.us": ["education"],
      "ci.*.*.us": ["government_suffix"],
      "library.ci.austin.tx.us": ["organisation"],
    }),
  )
  const setsOf = (domain: string) => both.match(domain, "austin.tx.us").sets
  expect(setsOf("www.austin.tx.us")).toEqual(["education"])
  expect(setsOf("www.ci.austin.tx.us")).toEqual(["government_suffix"])
  expect(setsOf("www.library.ci.austin.tx.us")).toEqual(["organisation"])
})

test("a dropped listing does not match, but is still returned", () => {
  expect(pack.match("dropped.com", "dropped.com")).toBe(NO_LIST_MATCH)
  expect(pack.listingsOf("dropped.com")).toEqual([
    { set: "disposable", source: "here", outcome: "never_list", since: null },
  ])
})

test("a listing has the days on which it was added and last seen", () => {
  const seen = {
    set: "disposable",
    source: "here",
    outcome: "kept",
    since: "2026-01-02",
    lastSeen: "2026-11-20",
  } as const
  const added = { set: "disposable", source: "here", outcome: "kept", since: "2026-11-20" } as const
  const days = openedPack(
    writePack({
      ...smallContents({}),
      names: [
        ["seen.com", [seen]],
        ["added.com", [added]],
      ],
    }),
  )
  expect(days.listingsOf("seen.com")).toEqual([seen])
  expect(days.listingsOf("added.com")).toEqual([added])
  expect(days.listingsOf("added.com")[0]).not.toHaveProperty("lastSeen")
})

test("names of more different days than a pack can number are listed without days", () => {
  const day = (number: number): string => isoDate(utcDay(Date.UTC(2020, 0, 1)) + number)
  const names = Array.from({ length: CLASSES_MAX + 1 }, (_, at) => {
    const [since, lastSeen] = [day(at % 300), day(300 + Math.floor(at / 300))]
    return [`name-${at}.com`, [{ set: "disposable", source: "here", outcome: "kept", since, lastSeen }]] as const
  })
  const many = openedPack(writePack({ ...smallContents({}), names }))
  expect(many.match("name-65000.com", "name-65000.com").sets).toEqual(["disposable"])
  expect(many.listingsOf("name-7.com")).toEqual([{ set: "disposable", source: "here", outcome: "kept", since: null }])
  const fewer = openedPack(writePack({ ...smallContents({}), names: names.slice(0, -1) }))
  expect(fewer.listingsOf("name-7.com")[0]?.since).toBe(day(7))
})

test("texts that are not hosts as lower-case A-labels match no set", () => {
  const texts = [
    "",
    ".",
    "..",
    "MAILINATOR.COM",
    "mäil.mailinator.com",
    "ŭ.mailinator.com",
    "mailinator.com.",
    `${"a.".repeat(120)}mailinator.com`,
  ]
  for (const text of texts) expect(pack.match(text, "mailinator.com").mask).toBe(0)
  // U+016D has the low byte of "m": codes are not bytes.
  expect(pack.match("\u016dailinator.com", "\u016dailinator.com").mask).toBe(0)
})

test("a name of 253 characters is looked up, and one of 254 is not", () => {
  const longest = `${"a.".repeat(119)}b.mailinator.com`.slice(-253)
  expect(longest).toHaveLength(253)
  expect(sets(longest, "mailinator.com")).toEqual(["disposable"])
  expect(sets(`a${longest}`, "mailinator.com")).toEqual([])
})

test("words, group services, targets and counts are read as they were written", () => {
  const { role, shared_inbox, group, region, person_name } = pack.words
  expect([...role, ...shared_inbox, ...group, ...region, ...person_name]).toEqual([
    "postmaster",
    "support",
    "all",
    "uk",
    "salesse",
  ])
  expect(pack.groupDomains).toEqual(["groups.io"])
  expect(pack.targets).toEqual([
    { name: "gmail.com", kind: "provider" },
    { name: "stripe.com", kind: "organisation" },
  ])
  expect(pack.entryCounts).toMatchObject({
    disposable: 2,
    government_suffix: 3,
    education: 2,
    organisation: 2,
    relay: 0,
  })
  expect(pack.builtAt).toBe("2026-11-20T00:00:00.000Z")
  expect(pack.version).toMatch(/^2026-11-20-[0-9a-f]{8}$/)
})

test("a pack without names opens, verifies and matches nothing", () => {
  const empty = openedPack(smallPack({}))
  expect(empty.verify()).toEqual({ ok: true })
  expect(empty.match("gmail.com", "gmail.com")).toBe(NO_LIST_MATCH)
})

test("a pack can be at any offset of a buffer", () => {
  const bytes = smallPack({ "mailinator.com": ["disposable"] })
  const shifted = new Uint8Array(bytes.length + 5)
  shifted.set(bytes, 5)
  const moved = openedPack(shifted.subarray(5))
  expect(moved.verify()).toEqual({ ok: true })
  expect(moved.match("mailinator.com", "mailinator.com").sets).toEqual(["disposable"])
})

test("every truncated pack is refused with a message and a remedy", () => {
  const bytes = smallPack({ "mailinator.com": ["disposable"], "*.bremen.de": ["government_suffix"] })
  for (let length = 0; length < bytes.length; length++) {
    const found = openPack(bytes.subarray(0, length))
    expect(found.kind).toBe("refused")
    if (found.kind === "refused")
      expect([found.message, found.remedy].every(text => /^[A-Z].+\.$/.test(text))).toBe(true)
  }
})

test("foreign bytes, another format and trailing bytes are refused", () => {
  const bytes = smallPack({ "mailinator.com": ["disposable"] })
  const description = (changed: Uint8Array) => {
    const found = openPack(changed)
    return found.kind === "refused" ? found.message : "opened"
  }
  expect(description(new TextEncoder().encode("disposable\n".repeat(100)))).toBe("The file is not a pack.")
  expect(description(new Uint8Array(4096))).toBe("The file is not a pack.")
  expect(description(bytes.with(8, 9))).toBe("The pack has format 9; this version reads 4.")
  expect(description(new Uint8Array([...bytes, 0]))).toMatch(/^The pack has \d+ bytes and says \d+\.$/)
})

test("every flipped byte is detected when the pack is opened or verified", () => {
  const bytes = smallPack({
    "mailinator.com": ["disposable"],
    "gov.uk": ["government_suffix"],
    "*.bremen.de": ["government_suffix"],
  })
  const missed = [...bytes.keys()].filter(at => {
    const found = openPack(bytes.with(at, (bytes[at] ?? 0) ^ 0x41))
    return found.kind === "open" && found.pack.verify().ok
  })
  expect(missed).toEqual([])
})

test("a damaged pack that was not verified does not throw", () => {
  const bytes = smallPack({ "mailinator.com": ["disposable"], "gmail.com": ["personal"] })
  for (let at = 124; at < bytes.length; at++) {
    const found = openPack(bytes.with(at, 0xff))
    if (found.kind === "open") expect(() => found.pack.match("a.mailinator.com", "mailinator.com")).not.toThrow()
  }
})
