import { describe, expect, test } from "bun:test"
import { LISTING_RULES } from "../../src/check/lists/listing-rules.ts"
import { type ListsCommandDeps, listsLookup } from "../../src/cli/lists.ts"
import { CommandError } from "../../src/cli/output.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { knownSmall } from "../check/known-small.ts"

const known = knownSmall({
  "old.com": [
    { set: "personal", source: "elsewhere", outcome: "disposable_beats_long_tail", since: null },
    { set: "disposable", source: "here", outcome: "kept", since: "2026-11-21" },
  ],
  "seen.com": [{ set: "disposable", source: "abused", outcome: "kept", since: "2026-11-21", lastSeen: "2026-11-23" }],
  "ci.*.*.us": [{ set: "government_suffix", source: "here", outcome: "kept", since: null }],
})

const tools: ListsCommandDeps = {
  loadLists: async () => known,
  openPack: async () => null,
  readWaiting: async () => null,
  refresh: async () => "busy",
  readInForce: () => Promise.reject(new Error("not asked for")),
  changeInForce: async () => "busy",
  checkout: null,
}

/** What `lists lookup` writes. */
async function written(text: string, asJson = false): Promise<string> {
  const lines: string[] = []
  const line = (facts: string): void => void lines.push(facts)
  await listsLookup({ line, stderrLine: line }, tools, text, asJson)
  return lines.join("\n")
}

const ENTRY = { set: "disposable", source: "here", outcome: "kept", licence: "MIT", origin: "our garden" } as const

describe("lists lookup", () => {
  test("tells what holds and why, and of each listing the source, the set, the day, the licence and what became of it", async () => {
    const lines = (await written("old.com")).split("\n").map(line => line.trim().split(/\s{2,}/))
    expect(lines[0]).toEqual(["old.com: disposable (disposable_domain)"])
    expect(lines[1]).toEqual(["The domain is on the disposable list."])
    expect(lines).toContainEqual(["old.com: in disposable (decides)"])
    expect(lines).toContainEqual(["source", "set", "since", "licence", "became"])
    expect(lines).toContainEqual(["here", "disposable", "2026-11-21", "MIT", "kept"])
    const dropped = `dropped: ${LISTING_RULES.disposable_beats_long_tail}`
    expect(lines).toContainEqual(["elsewhere", "personal", "not known", "ISC", dropped])
    expect(lines).toContainEqual(["com: in no set"])
  })

  test("tells the pattern that decides, and since when it is known at the latest", async () => {
    const out = await written("www.ci.austin.tx.us")
    expect(out).toMatch(/here as ci\.\*\.\*\.us +government_suffix +on or before 2026-11-20 +MIT +kept/)
  })

  test("tells of what is abused now when it was first and last seen, and until when it counts", async () => {
    const out = await written("seen.com")
    expect(out).toMatch(/abused +disposable +2026-11-21, last seen 2026-11-23, counts until 2027-05-22 +MIT +kept/)
    const { levels } = JSON.parse(await written("seen.com", true))
    expect(levels[0].listings).toMatchObject([
      { since: "2026-11-21", last_seen: "2026-11-23", counts_until: "2027-05-22" },
    ])
  })

  test("tells how a mistake is reported, put right by the operator, and at its root", async () => {
    const out = await written("old.com")
    expect(out).toContain(`POST ${ROUTES.postFeedback.path}`)
    expect(out).toContain("`mailkind allow add old.com`")
    expect(out).toMatch(/here +our garden/)
    expect(out).toMatch(/elsewhere +another garden/)
    expect(await written("www.ci.austin.tx.us")).toContain("`mailkind block add www.ci.austin.tx.us`")
    expect(await written("co.uk")).toContain("A report cannot change it")
    expect(await written("co.uk")).not.toContain("block add")
  })

  test("--json has the same by name, level by level", async () => {
    expect(JSON.parse(await written("jane@old.com", true))).toEqual({
      ...{ domain: "old.com", category: "disposable", reason: "disposable_domain", entry: "old.com" },
      sets: ["disposable"],
      levels: [
        {
          ...{ name: "old.com", asks: "name", sets: ["disposable"], decides: true, patterns: [] },
          listings: [
            {
              ...{ set: "personal", source: "elsewhere", outcome: "disposable_beats_long_tail" },
              ...{ since: null, on_or_before: null, last_seen: null, counts_until: null },
              ...{ licence: "ISC", origin: "another garden" },
            },
            { ...ENTRY, since: "2026-11-21", on_or_before: null, last_seen: null, counts_until: null },
          ],
        },
        { name: "com", asks: "suffix", sets: [], decides: false, listings: [], patterns: [] },
      ],
    })
    const { levels } = JSON.parse(await written("ci.austin.tx.us", true))
    expect(levels[0].patterns).toEqual([
      {
        pattern: "ci.*.*.us",
        listings: [
          {
            ...{ ...ENTRY, set: "government_suffix", since: null, on_or_before: "2026-11-20" },
            ...{ last_seen: null, counts_until: null },
          },
        ],
      },
    ])
  })

  test.each(["no domain", "jane@", "192.0.2.1", ""])(
    "of %j is a wrong use, and nothing of it is repeated",
    async text => {
      const failure = await written(text).catch((thrown: unknown) => thrown)
      expect(failure).toBeInstanceOf(CommandError)
      expect(failure).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^This is not a domain\. The /) })
      expect(String(failure)).not.toContain("jane")
    },
  )
})
