import { describe, expect, test } from "bun:test"
import { type InputRow, lineError, MEMBERS_MAX, readRow } from "../../src/rows/input-rows.ts"
import { SINGLE_COLUMN } from "../../src/rows/reading-plan.ts"
import { RESULT_FORMATS } from "../../src/rows/result-format.ts"
import { readBlock } from "../../src/rows/row-reader.ts"

/** The row of one line. */
function rowOf(text: string, column: string | null = null): InputRow | undefined {
  const rule = {
    format: "ndjson",
    hasMark: false,
    delimiter: ",",
    skippedLines: 0,
    hasHeader: false,
    width: 1,
  } as const
  const plan = { ...rule, inputIndex: 0, kind: null, member: column, columns: SINGLE_COLUMN }
  const rows = readBlock(Buffer.from(`${text}\n`), plan, true)
  expect(rows).toHaveLength(1)
  return rows[0]
}

describe("a line of NDJSON", () => {
  test.each([
    ['{"email":"a@b.com"}', "a@b.com", "email"],
    ['{"domain":"b.com","x":1}', "b.com", "domain"],
    ['{"url":"https://b.com"}', "https://b.com", "url"],
    ['{"url":"https://b.com","domain":"b.com","email":"a@b.com"}', "a@b.com", "email"],
    ['{"email":null,"url":"https://b.com/api/users/1"}', "", "email"],
    ['{"email":"no-address"}', "no-address", "email"],
    ['"b.com"', "b.com", null],
    [' {"email":"a@b.com"}\r', "a@b.com", "email"],
  ] as const)("%s has its input and its kind", (line, input, kind) => {
    expect(rowOf(line)).toMatchObject({ input, kind, fault: null, cells: null })
  })

  test("has the input of the member that is named, whatever its kind", () => {
    expect(rowOf('{"email":"a@b.com","site":"c.com"}', "site")).toMatchObject({ input: "c.com", kind: null })
    expect(rowOf('{"email":"a@b.com"}', "site")).toMatchObject({ fault: "invalid_syntax" })
  })

  test.each(['{"email":', "{}", '{"email":1}', "[]", '["a@b.com"]', '{"__proto__":{"email":"a@b.com"}}', '"a@b.com'])(
    "%s is not looked into",
    line => {
      expect(rowOf(line)).toMatchObject({ kind: "domain", fault: "invalid_syntax" })
    },
  )

  test("that begins as no JSON text is an input as it stands", () => {
    expect(rowOf("a@b.com\r")).toMatchObject({ input: "a@b.com", fault: null })
    expect(rowOf("")).toMatchObject({ input: "", fault: null })
    expect(rowOf("null")).toMatchObject({ input: "null", fault: null })
  })
})

describe("a row", () => {
  const row = { input: "a@b.com", kind: null, fault: null, cells: null, json: null, cleaned: null }

  test("is parsed by the rule of a batch unless it says what it is", () => {
    expect(readRow(row, "mailkind.test").subject).toMatchObject({ kind: "email", domain: "b.com", fault: null })
    expect(readRow({ ...row, input: "b.com", kind: "email" }, "mailkind.test").subject).toMatchObject({
      kind: "email",
      fault: "invalid_syntax",
    })
  })

  test("with bytes that are no UTF-8 is invalid, even where an address could hold their replacement", () => {
    expect(readRow({ ...row, input: "a\ufffd@b.com" }, "mailkind.test").subject).toMatchObject({
      fault: "invalid_syntax",
      domain: null,
    })
  })

  test("with a fault keeps it, and nothing is read from it", () => {
    expect(readRow({ ...row, fault: "too_long" }, "mailkind.test").subject).toEqual({
      kind: "email",
      sent: "a@b.com",
      fault: "too_long",
      domain: null,
      wwwHost: null,
      registrable: null,
      localPart: null,
      normalized: null,
      mailbox: null,
      tagged: null,
      hasSubaddress: false,
      isTest: false,
    })
  })
})

describe("the members of a line", () => {
  const line = (count: number): string => `{"email":"a@b.com"${',"category":1'.repeat(count - 1)}}`

  test("are as many as they may be, and with one more the line is an error", () => {
    expect(rowOf(line(MEMBERS_MAX))).toMatchObject({ input: "a@b.com", fault: null })
    const [over] = [rowOf(line(MEMBERS_MAX + 1))]
    expect([over?.fault, over === undefined ? null : lineError(over)]).toEqual(["invalid_syntax", "too_many_members"])
  })

  test("are looked at a few times each, however many names are those of the result and however long the way to a free one", () => {
    const chain = Array.from({ length: 100 }, (_, at) => `${"input_".repeat(at)}category`)
    let looks = 0
    const members = [...Array(MEMBERS_MAX - chain.length).fill("category"), ...chain].map(own => ({
      get name(): string {
        looks++
        return own
      },
      text: "1",
    }))
    const row = {
      input: "a@b.com",
      kind: "email",
      fault: null,
      cells: null,
      json: { members, problem: null },
      cleaned: null,
    } as const
    const text = RESULT_FORMATS.ndjson(SINGLE_COLUMN, { hasSafeCells: false, tellsCached: true }).prefix(
      readRow(row, "mailkind.test"),
    )
    expect(text.split(`"${"input_".repeat(100)}category":1,`)).toHaveLength(MEMBERS_MAX - chain.length + 2)
    expect(looks / members.length).toBeLessThan(4)
  })
})
