import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { readSample, SAMPLE_FILE_NAMES, type Sample, type SampleFile } from "../../bench/accuracy/sample.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"

const HEADER = "# says: A list.\n# columns: name, known from\n# origin: by hand\n# licence: MIT\n# date: 2026-11-20\n"

/** Reads a sample that has these rows and no others. */
const read = (rows: Partial<Record<SampleFile, string>>) =>
  readSample(file => `${HEADER}${(rows[file] ?? "").replaceAll("|", "\t")}`)

function faultsOf(rows: Partial<Record<SampleFile, string>>): readonly string[] {
  const got = read(rows)
  return got.kind === "refused" ? got.faults : []
}

function sampleOf(got: ReturnType<typeof read>): Sample {
  if (got.kind === "refused") throw new Error(got.faults.join("\n"))
  return got.sample
}

describe("the sample in the repository", () => {
  const texts = new Map(SAMPLE_FILE_NAMES.map(file => [file, join(import.meta.dir, `../../data/sample/${file}.tsv`)]))

  test("is whole, and large enough to tell something of each category", async () => {
    const held = new Map(
      await Promise.all([...texts].map(async ([file, path]) => [file, await Bun.file(path).text()] as const)),
    )
    const { labelled, traps, typos, kept, roles, notRoles } = sampleOf(readSample(file => held.get(file) ?? ""))
    const counts = CATEGORY_NAMES.map(name => labelled.filter(({ label }) => label === name).length)
    expect(counts.filter(count => count < 400)).toEqual([])
    expect(traps.length).toBeGreaterThanOrEqual(300)
    expect(typos.length).toBeGreaterThanOrEqual(400)
    expect(kept.length).toBeGreaterThanOrEqual(150)
    expect(roles.length).toBeGreaterThanOrEqual(300)
    expect(notRoles.length).toBeGreaterThanOrEqual(100)
  })
})

describe("rows", () => {
  test("a domain is asked about as somebody's there, and what is invalid as it stands", () => {
    const { labelled, traps, typos } = sampleOf(
      read({
        relay: "duck.com|its own site\n",
        invalid: "co.uk|domain|a public suffix\njoe@|email|no domain\n",
        traps: "github.io|invalid|business|a public suffix\n",
        typos: "gmial.com|gmail.com|transposition\n",
      }),
    )
    expect(labelled.map(({ label, requests: input }) => [label, input.kind, input.text])).toEqual([
      ["relay", "email", "jane@duck.com"],
      ["invalid", "domain", "co.uk"],
      ["invalid", "email", "joe@"],
    ])
    expect(traps).toEqual([
      {
        text: "github.io",
        label: "invalid",
        mistaken: "business",
        requests: { kind: "email", text: "jane@github.io" },
      },
    ])
    expect(typos).toEqual([{ text: "gmial.com", meant: "gmail.com" }])
  })

  const malformed: readonly (readonly [SampleFile, string, string])[] = [
    ["relay", "duck.com\n", "relay:6: not 2 columns: duck.com"],
    ["relay", "duck.com|a|b\n", "relay:6: not 2 columns"],
    ["relay", "duck.com|\n", "relay:6: an empty cell"],
    ["relay", "duck.com| a\n", "relay:6: an empty cell, or one with white space around it"],
    ["relay", "Duck.com|a\n", "relay:6: no domain in lower case"],
    ["relay", "duck|a\n", "relay:6: no domain in lower case"],
    ["relay", "\nduck.com|a\n", "relay:6: not 2 columns"],
    ["relay", "duck.com|a\naddy.io|a\n", "relay:7: not sorted by bytes, or repeated"],
    ["relay", "duck.com|a\nduck.com|a\n", "relay:7: not sorted by bytes, or repeated"],
    ["relay", "duck.com|a\nduck.com|b\n", "relay:7: the name is there twice"],
    ["relay", "duck.com|a", "relay: the last line is cut short"],
    ["invalid", "co.uk|host|a\n", "invalid:6: no kind"],
    ["traps", "duck.com|relay|shop|a\n", "traps:6: no two categories"],
    ["traps", "duck.com|relay|relay|a\n", "traps:6: no two categories"],
    ["traps", "duck|relay|business|a\n", "traps:6: no domain in lower case"],
    ["typos", "gmail.com|gmail.com|swap\n", "typos:6: no two domains"],
    ["roles", "sales team|a\n", "roles:6: no local part"],
    ["not-roles", "jane@acme.com|a\n", "not-roles:6: no local part"],
  ]
  test.each(malformed)("%s is refused with %j", (file, rows, fault) => {
    expect(faultsOf({ [file]: rows }).some(one => one.startsWith(fault))).toBe(true)
  })

  test("bytes of UTF-8 give the order, not the units of a string", () => {
    expect(faultsOf({ invalid: "％.de|domain|a\n𝄞.de|domain|a\n" })).toEqual([])
    expect(faultsOf({ invalid: "𝄞.de|domain|a\n％.de|domain|a\n" })).toHaveLength(1)
  })

  test("a file without its header is refused", () => {
    const got = readSample(file => (file === "kept" ? HEADER.replace("licence", "license") : HEADER))
    expect(got).toEqual({ kind: "refused", faults: ["kept: the header is says, columns, origin, licence, date"] })
  })
})

describe("contradictions", () => {
  test("a name in two categories is refused, and so is one in two files of the same", () => {
    expect(faultsOf({ relay: "duck.com|a\n", personal: "duck.com|a\n" })).toEqual(["duck.com is personal and relay"])
  })

  test("a trap may stand in the sample under its own label only", () => {
    expect(faultsOf({ relay: "duck.com|a\n", traps: "duck.com|relay|disposable|a\n" })).toEqual([])
    expect(faultsOf({ relay: "duck.com|a\n", traps: "duck.com|personal|relay|a\n" })).toEqual([
      "duck.com is relay, and personal among the traps",
    ])
  })

  test("nothing is a typo and none, or a role and none", () => {
    expect(faultsOf({ typos: "gail.com|gmail.com|omission\n", kept: "gail.com|a\n" })).toEqual([
      "gail.com is a typo and kept",
    ])
    expect(faultsOf({ roles: "sales|a\n", "not-roles": "sales|a\n" })).toEqual(["sales is a role and none"])
  })
})
