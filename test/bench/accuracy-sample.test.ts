import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import {
  readSample,
  repeatedTexts,
  SAMPLE_PART_NAMES,
  type Sample,
  type SampleFile,
  type SamplePart,
  sampleFilesOf,
} from "../../bench/accuracy/sample.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"

const HEADER = "# says: A list.\n# columns: name, known from\n# origin: by hand\n# licence: MIT\n# date: 2026-11-20\n"

/** Reads a part that has these rows and no others. */
const read = (rows: Partial<Record<SampleFile, string>>, part: SamplePart = "tuned") =>
  readSample(part, file => `${HEADER}${(rows[file] ?? "").replaceAll("|", "\t")}`)

function faultsOf(rows: Partial<Record<SampleFile, string>>, part?: SamplePart): readonly string[] {
  const got = read(rows, part)
  return got.kind === "refused" ? got.faults : []
}

function sampleOf(got: ReturnType<typeof read>): Sample {
  if (got.kind === "refused") throw new Error(got.faults.join("\n"))
  return got.sample
}

describe("the sample in the repository", () => {
  const textsOf = async (part: SamplePart): Promise<ReadonlyMap<SampleFile, string>> =>
    new Map(
      await Promise.all(
        sampleFilesOf(part).map(async file => {
          const path = join(import.meta.dir, `../../data/sample/${part}/${file}.tsv`)
          return [file, await Bun.file(path).text()] as const
        }),
      ),
    )

  async function heldPart(part: SamplePart): Promise<Sample> {
    const held = await textsOf(part)
    return sampleOf(readSample(part, file => held.get(file) ?? ""))
  }

  test("is whole, and the tuned part is large enough to tell something of each category", async () => {
    const { labelled, traps, typos, kept, roles, notRoles } = await heldPart("tuned")
    const counts = CATEGORY_NAMES.map(name => labelled.filter(({ label }) => label === name).length)
    expect(counts.filter(count => count < 400)).toEqual([])
    expect(traps.length).toBeGreaterThanOrEqual(300)
    expect(typos.length).toBeGreaterThanOrEqual(400)
    expect(kept.length).toBeGreaterThanOrEqual(150)
    expect(roles.length).toBeGreaterThanOrEqual(300)
    expect(notRoles.length).toBeGreaterThanOrEqual(100)
  })

  test("has no sealed row that is tuned, so that the sealed shares tell something of their own", async () => {
    expect(repeatedTexts(await heldPart("tuned"), await heldPart("sealed"))).toEqual([])
  })

  test("says of every row of either part where it is known from", async () => {
    for (const part of SAMPLE_PART_NAMES) {
      for (const [file, text] of await textsOf(part)) {
        const rows = text.split("\n").filter(line => line !== "" && !line.startsWith("# "))
        expect([part, file, rows.filter(row => (row.split("\t").at(-1) ?? "").length < 3).length]).toEqual([
          part,
          file,
          0,
        ])
      }
    }
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
    ["complaints", "acme.com|shop|a\n", "complaints:6: neither another category nor not disposable"],
    ["complaints", "acme.com|disposable|a\n", "complaints:6: neither another category nor not disposable"],
    ["complaints", "acme|business|a\n", "complaints:6: no domain in lower case"],
    ["open-suffix", "edu|a\n", "open-suffix:6: no domain in lower case"],
  ]
  test.each(malformed)("%s is refused with %j", (file, rows, fault) => {
    const part = SAMPLE_PART_NAMES.find(name => sampleFilesOf(name).includes(file))
    expect(faultsOf({ [file]: rows }, part).some(one => one.startsWith(fault))).toBe(true)
  })

  test("a complaint says what a name is, or only that it is not disposable", () => {
    const { complaints, openSuffix } = sampleOf(
      read(
        {
          complaints: "acme.com|business|a thread\nbolt.com|not disposable|a thread\n",
          "open-suffix": "x1.edu.pl|a\n",
        },
        "sealed",
      ),
    )
    expect(complaints.map(({ text, label, requests }) => [text, label, requests.text])).toEqual([
      ["acme.com", "business", "jane@acme.com"],
      ["bolt.com", null, "jane@bolt.com"],
    ])
    expect(openSuffix).toEqual([{ text: "x1.edu.pl", requests: { kind: "email", text: "jane@x1.edu.pl" } }])
  })

  test("files that a part lacks are not read", () => {
    const asked: SampleFile[] = []
    readSample("sealed", file => {
      asked.push(file)
      return HEADER
    })
    expect(asked).toEqual([...sampleFilesOf("sealed")])
    expect(asked).not.toContain("traps")
    expect(sampleFilesOf("tuned")).not.toContain("complaints")
  })

  test("bytes of UTF-8 give the order, not the units of a string", () => {
    expect(faultsOf({ invalid: "％.de|domain|a\n𝄞.de|domain|a\n" })).toEqual([])
    expect(faultsOf({ invalid: "𝄞.de|domain|a\n％.de|domain|a\n" })).toHaveLength(1)
  })

  test("a file without its header is refused", () => {
    const got = readSample("tuned", file => (file === "kept" ? HEADER.replace("licence", "license") : HEADER))
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

  test("a complaint is of no throw-away", () => {
    const complaints = "acme.com|business|a\n"
    expect(faultsOf({ complaints, disposable: "acme.com|a\n" }, "sealed")).toEqual([
      "acme.com is a complaint and a throw-away",
    ])
    expect(faultsOf({ complaints, "open-suffix": "acme.com|a\n" }, "sealed")).toHaveLength(1)
    expect(faultsOf({ complaints, business: "acme.com|a\n" }, "sealed")).toEqual([])
  })
})

describe("repeats", () => {
  const tuned = sampleOf(
    read({
      relay: "duck.com|a\n",
      traps: "clarkart.edu|education|business|a\n",
      typos: "gmial.com|gmail.com|swap\n",
      roles: "sales|a\n",
    }),
  )

  test("are texts of the tuned part, in whatever file of the sealed one they stand", () => {
    const rows = {
      complaints: "duck.com|relay|a\n",
      education: "clarkart.edu|a\nnew.edu|a\n",
      kept: "gmial.com|a\n",
      "not-roles": "sales|a\n",
    }
    expect(repeatedTexts(tuned, sampleOf(read(rows, "sealed"))).toSorted()).toEqual([
      "clarkart.edu",
      "duck.com",
      "gmial.com",
      "sales@",
    ])
  })

  test("are not what a typo means, and a local part repeats no domain", () => {
    const rows = { typos: "gmal.com|gmail.com|a\n", personal: "gmail.com|a\n", roles: "duck.com|a\n" }
    expect(repeatedTexts(tuned, sampleOf(read(rows, "sealed")))).toEqual([])
  })
})
