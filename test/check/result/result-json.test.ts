import { expect, test } from "bun:test"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../../src/check/check.ts"
import { batchResult, type CheckOutcome, fullResult, fullResultJson } from "../../../src/check/result/result.ts"
import { type WrittenJson, writeBatchResult, writeResult } from "../../../src/check/result/result-writer.ts"
import { CheckResult } from "../../../src/contract/result-schema.ts"
import { VERDICT_CASES } from "../../golden/verdict-cases.ts"
import { check } from "../../support/app.ts"

const HOSTILE = [
  '"quoted\\" @part"@acme.com',
  "jané@bücher.de",
  "https://acme.com/\\u2028\u2028<script>",
  "\ud800@acme.com",
  "jane@acme.com\u0000",
  "jane@acme.com\u007f",
  `https://acme.com/${"ü".repeat(1500)}`,
  "",
]

const outcomeOf = async (input: string): Promise<CheckOutcome> =>
  await check({
    subject: parseSubject(detectSubjectKind(input), input, "mailkind.test"),
    policy: "b2b",
    isDeep: false,
    includeTenant: true,
    ownListMatch: NO_OWN_LIST_MATCH,
  })

const read = async (written: WrittenJson): Promise<string> => await new Response(written).text()

test("the JSON of a result is the result, with its members in the order of the schema, whoever was first", async () => {
  const names = Object.keys(CheckResult.properties)
  for (const input of [...VERDICT_CASES.map(({ input: sent }) => sent), ...HOSTILE]) {
    for (const outcome of [await outcomeOf(input), await outcomeOf(input)]) {
      const timed = { ...outcome, tookMs: 12_345 }
      const text = fullResultJson(timed, "req_1")
      expect(text).toBe(JSON.stringify(fullResult(timed, "req_1")))
      for (const _ of ["for the first time", "again"]) expect(await read(writeResult(timed, "req_1"))).toBe(text)
      const own = Object.keys(JSON.parse(text))
      expect(own).toEqual(names.filter(name => name !== "url" || own.includes(name)))
    }
  }
})

test("a batch has its results, the time of the slowest, and one id for all", async () => {
  const found = await Promise.all(["jane@gmail.com", 'a"b\u2028', "mit.edu", "http://acme.com"].map(outcomeOf))
  const slow = found.map((outcome, at) => ({ ...outcome, tookMs: [3, 7, 0, 1][at] ?? 0 }))
  expect(batchResult(slow, "req_1")).toEqual({
    results: slow.map((outcome, index) => ({
      ...fullResult(outcome, "req_1"),
      index,
      ...(index === 1 ? { input: 'a"b\u2028' } : {}),
    })),
    took_ms: 7,
    request_id: "req_1",
  })
  for (const outcomes of [slow, []])
    expect(await read(writeBatchResult(outcomes, "req_1"))).toBe(JSON.stringify(batchResult(outcomes, "req_1")))
})

test("a copied response is not changed by the next one", async () => {
  const [jane, acme] = [await outcomeOf("jane@gmail.com"), await outcomeOf("acme.com")]
  const first = new Response(writeResult(jane, "req_1"))
  const second = new Response(writeResult(acme, "req_3"))
  expect(await first.json()).toEqual(JSON.parse(fullResultJson(jane, "req_1")))
  expect(await second.json()).toEqual(JSON.parse(fullResultJson(acme, "req_3")))
})

test("a batch that does not fit into the buffer is a text, and the next response has the whole buffer again", async () => {
  const long = await outcomeOf(`https://acme.com/${"\u0001".repeat(2000)}`)
  const written = writeBatchResult(Array(100).fill(long), "req_1")
  expect(typeof written).toBe("string")
  expect(JSON.parse(await read(written))).toMatchObject({ results: { length: 100 }, took_ms: 0, request_id: "req_1" })
  expect(typeof writeResult(long, "req_1")).toBe("object")
})
