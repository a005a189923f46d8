import { expect, test } from "bun:test"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../../src/check/check.ts"
import { type CheckOutcome, fullResult, fullResultJson } from "../../../src/check/result/result.ts"
import { type WrittenJson, writeBatchResult, writeResult } from "../../../src/check/result/result-writer.ts"
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

const read = async (written: WrittenJson): Promise<unknown> => await new Response(written).json()
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test("a written result, as bytes or as a text, equals the result, whoever was first", async () => {
  for (const input of [...VERDICT_CASES.map(({ input: sent }) => sent), ...HOSTILE]) {
    for (const outcome of [await outcomeOf(input), await outcomeOf(input)]) {
      for (const tookMs of [0, 7, 12_345]) {
        const timed = { ...outcome, tookMs }
        const result = plain(fullResult(timed, "req_1"))
        expect(await read(writeResult(timed, "req_1"))).toEqual(result)
        expect(JSON.parse(fullResultJson(timed, "req_1"))).toEqual(result)
      }
    }
  }
})

test("a copied response is not changed by the next one", async () => {
  const [jane, acme] = [await outcomeOf("jane@gmail.com"), await outcomeOf("acme.com")]
  const answers = [
    new Response(writeResult(jane, "req_1")),
    new Response(writeBatchResult([acme, jane], "req_2")),
    new Response(writeResult(acme, "req_3")),
  ]
  const [one, many, other] = await Promise.all(answers.map(answer => answer.json()))
  expect(one).toEqual(plain(fullResult(jane, "req_1")))
  expect(many.results).toEqual(
    plain([
      { ...fullResult(acme, "req_2"), index: 0 },
      { ...fullResult(jane, "req_2"), index: 1 },
    ]),
  )
  expect(other).toEqual(plain(fullResult(acme, "req_3")))
})

test("a batch has its results, the time of the slowest, and one id for all", async () => {
  const found = await Promise.all(["jane@gmail.com", 'a"b\u2028', "mit.edu", "http://acme.com"].map(outcomeOf))
  const slow = found.map((outcome, at) => ({ ...outcome, tookMs: [3, 7, 0, 1][at] ?? 0 }))
  expect(await read(writeBatchResult(slow, "req_1"))).toEqual({
    results: plain(
      slow.map((outcome, index) => ({
        ...fullResult(outcome, "req_1"),
        index,
        ...(index === 1 ? { input: 'a"b\u2028' } : {}),
      })),
    ),
    took_ms: 7,
    request_id: "req_1",
  })
  expect(await read(writeBatchResult([], "req_1"))).toEqual({ results: [], took_ms: 0, request_id: "req_1" })
})

test("a batch that does not fit into the buffer is a text, and the next response has the whole buffer again", async () => {
  const long = await outcomeOf(`https://acme.com/${"\u0001".repeat(2000)}`)
  const outcomes = Array.from({ length: 100 }, () => long)
  const written = writeBatchResult(outcomes, "req_1")
  expect(typeof written).toBe("string")
  expect(await read(written)).toMatchObject({ results: { length: 100 }, took_ms: 0, request_id: "req_1" })
  expect(typeof writeResult(long, "req_1")).toBe("object")
})
