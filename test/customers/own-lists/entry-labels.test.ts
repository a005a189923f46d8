import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { parseEntries, parseLabelledEntry } from "../../../src/customers/own-lists/entries.ts"
import { isShownAs, maskAddress } from "../../../src/customers/own-lists/entry-labels.ts"
import { guardedCell } from "../../../src/customers/own-lists/entry-table.ts"
import {
  addEntries,
  listEntries,
  OPERATOR,
  removeEntries,
  setNotes,
} from "../../../src/customers/own-lists/own-lists.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"

const labelled = (text: string, note: string | null = null) => {
  const entry = parseLabelledEntry(text, parseAddressOrDomain, note)
  if (entry === null) throw new Error(`${text} is no entry`)
  return entry
}

describe("a masked address", () => {
  test.each([
    ["jane@acme.com", "j…e@acme.com"],
    ["Jane+news@ACME.com", "j…s@acme.com"],
    ["abc@acme.com", "a…@acme.com"],
    ["ab@acme.com", "a…@acme.com"],
    ["a@acme.com", "…@acme.com"],
    ["😀xyz😀@acme.com", "😀…😀@acme.com"],
  ])("of %s is %s", (text, shown) => {
    expect(labelled(text).shownAs).toBe(shown)
    expect(isShownAs(shown, "acme.com")).toBe(true)
  })

  test("shows two characters of a local part at most, and never all of it", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9.]{1,40}$/), local => {
        const shown = maskAddress(`${local}@acme.com`, "acme.com").slice(0, -"@acme.com".length)
        expect([...shown.replace("…", "")].length).toBeLessThanOrEqual(Math.min(2, local.length - 1))
      }),
    )
  })

  test.each(["jane@acme.com", "j…e@evil.com", "jane…@acme.com", "\u202E…@acme.com", "=…@acme.com.", ""])(
    "is not what a file says when it says %j",
    text => expect(isShownAs(text, "acme.com")).toBe(false),
  )
})

describe("the rows of a table", () => {
  const read = async (text: string) => {
    const parsed = await parseEntries(text, "table", parseAddressOrDomain, 10, () => undefined)
    return parsed.kind === "read" ? parsed.entries.map(({ storedText, note }) => [storedText, note]) : parsed
  }

  test.each([
    [
      "entry,note\na.com,bad people\nb.com,",
      [
        ["a.com", "bad people"],
        ["b.com", null],
      ],
    ],
    ['Domain;Kind;Comment\na.com;x;"one; two ""three"""\n', [["a.com", 'one; two "three"']]],
    ["domain\tnotes\na.com\tx, y", [["a.com", "x, y"]]],
    ['domain\tkind\tnotes\na.com\t\t "one\ttwo" \n', [["a.com", "one two"]]],
    ['domain\tkind\tnotes\n\ta.com\tx\nb.com\t"x"y\tz', [["b.com", "z"]]],
    ["a.com,not a note", [["a.com", null]]],
    ["name,other\na.com,not a note", [["a.com", null]]],
    ["entry,note\na.com,ask jane@acme.com", [["a.com", "ask …@acme.com"]]],
    ["entry,note\na.com,'=1+1", [["a.com", "=1+1"]]],
    ['entry,note\na.com,"open', [["a.com", '"open']]],
  ])("%j are %j", async (text, expected) => expect(await read(text)).toEqual(expected))

  test("with a note that is too long are told by their lines, and nothing is read", async () => {
    const note = "x".repeat(LIMITS.ownListNoteLengthMax)
    expect(await read(`entry,note\na.com,${note}`)).toEqual([["a.com", note]])
    expect(await read(`entry,note\na.com,${note}x`)).toMatchObject({
      kind: "faulty",
      faults: [{ line: 2, isNote: true }],
    })
  })

  test("give back any note that was guarded against formulas", async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^['=+@-]{0,3}[a-z]{1,10}$/), async note => {
        const cell = `"${guardedCell(note)}"`
        expect(cell).not.toMatch(/^"[=+@-]/)
        const [row] = (await read(`entry,note\na.com,${cell}`)) as [string, string][]
        expect(row?.[1]?.replaceAll("…", "")).toBe(
          note.includes("@") ? (row?.[1]?.replaceAll("…", "") ?? "") : note.trim(),
        )
      }),
    )
  })
})

test("notes stand on their entry of their owner alone, are changed, searched, and go with it", async () => {
  const log = tempLog(await tempStore())
  const owner = { accountId: await newAccount(log, "a@example.com") }
  const jane = labelled("jane@acme.com", "Wrote spam")
  await addEntries(log, owner, "block", [jane, labelled("b.example", "100% <b>")])
  await addEntries(log, OPERATOR, "block", [labelled("b.example", "operator's")])
  const all = async (holding = "", noteHolding = "", list: "block" | "allow" = "block") =>
    (await listEntries(log.store, owner, list, "", 100, holding, noteHolding)).map(({ shownAs, note }) => [
      shownAs,
      note,
    ])
  expect(await all()).toEqual([
    [null, "100% <b>"],
    ["j…e@acme.com", "Wrote spam"],
  ])
  expect(await all("nothing", "SPAM".toLowerCase())).toEqual([["j…e@acme.com", "Wrote spam"]])
  expect(await all("nothing", "100%")).toEqual([[null, "100% <b>"]])
  expect(await all("nothing", "%")).toEqual([[null, "100% <b>"]])
  expect(await all("nothing")).toEqual([])
  // An entry that is there keeps its note unless another one is given, and a hash keeps its masked form.
  await addEntries(log, owner, "block", [{ ...jane, note: null, shownAs: null }, labelled("b.example", "new")])
  expect(await all()).toEqual([
    [null, "new"],
    ["j…e@acme.com", "Wrote spam"],
  ])
  expect(await setNotes(log, owner, "block", [jane, labelled("none.example")], null)).toBe(1)
  expect(await setNotes(log, owner, "allow", [jane], "x")).toBe(0)
  expect(await all()).toEqual([
    [null, "new"],
    ["j…e@acme.com", null],
  ])
  await removeEntries(log, owner, "block", [jane])
  await addEntries(log, owner, "block", [{ ...jane, note: null, shownAs: null }])
  expect(await all("acme.com")).toEqual([[null, null]])
  expect(await listEntries(log.store, OPERATOR, "block", "", 10)).toMatchObject([{ note: "operator's" }])
  const bytes = JSON.stringify(await log.store.all("SELECT * FROM own_list_labels"))
  expect(bytes).not.toContain("jane")
})
