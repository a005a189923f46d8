import { expect, test } from "bun:test"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { readRow } from "../../src/rows/input-rows.ts"
import { SINGLE_COLUMN } from "../../src/rows/reading-plan.ts"
import { RESULT_FORMATS } from "../../src/rows/result-format.ts"
import { check } from "../support/app.ts"
import { fileRows, partsOf } from "../support/file-rows.ts"

/** The result of one line of a file. */
async function resultOf(format: "text" | "ndjson", text: string): Promise<string> {
  const file = await fileRows(partsOf(`${text}\n`), { format, isForced: true })
  const [given] = file?.rows ?? []
  if (given === undefined) throw new Error("no row")
  const read = readRow(given, "mailkind.test")
  const ownListMatch = NO_OWN_LIST_MATCH
  const { row, subject } = read
  const outcome =
    subject === null ? null : await check({ subject, policy: "b2b", includeTenant: false, isDeep: false, ownListMatch })
  const written = RESULT_FORMATS[format](SINGLE_COLUMN, { hasSafeCells: false, tellsCached: false })
  expect(written.format(row, outcome, 7)).toStartWith(written.prefix(read))
  return written.format(row, outcome, 7)
}

test("a member that the result repeats stands once, and one with a name of the result and another value gets a free name", async () => {
  const line = await resultOf("ndjson", '{"id":1,"email":"jane@gmail.com","category":"vip","input_category":2}')
  expect(line).toStartWith('{"id":1,"input_input_category":"vip","input_category":2,"email":"jane@gmail.com",')
  expect(line.match(/"email":/g)).toHaveLength(1)
  expect(JSON.parse(line)).toMatchObject({ category: "personal", request_id: "line_7", took_ms: 0 })
})

test("a line that could not be read has the error, and nothing of it is in the result", async () => {
  const line = await resultOf("ndjson", '{"email":"jane@gmail.com"')
  expect(JSON.parse(line)).toMatchObject({ category: "invalid", email: null, domain: null, line_error: "not_json" })
  expect(line).not.toMatch(/jane|gmail/)
})

test("an input of text has no tab or control character of its own in its result", async () => {
  const line = await resultOf("text", "jane\t@\u001b[2Jgmail.com")
  expect(line).not.toContain("\u001b")
  expect(line.split("\t")).toHaveLength(5)
})
