import { expect, test } from "bun:test"
import type { LogFields } from "../../src/base/log.ts"
import { logOf, requestFields, traceIdOf } from "../../src/http/exchange.ts"

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
const PARENT_ID = "00f067aa0ba902b7"
const requestWith = (traceparent: string): Request =>
  new Request("http://localhost/v1/check", { headers: { traceparent } })

test("the id of a trace is read from a header that keeps the rules of W3C Trace Context, of this version and of later ones", () => {
  for (const header of [
    `00-${TRACE_ID}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${PARENT_ID}-ff`,
    `01-${TRACE_ID}-${PARENT_ID}-01`,
    `cc-${TRACE_ID}-${PARENT_ID}-01-what-comes-later`,
  ])
    expect(traceIdOf(requestWith(header))).toBe(TRACE_ID)
})

test("a header that breaks the rules names no trace, and nothing of it is told", () => {
  const valid = `00-${TRACE_ID}-${PARENT_ID}-01`
  for (const header of [
    "",
    "jane@example.com",
    valid.toUpperCase(),
    valid.slice(0, -1),
    `${valid}0`,
    `${valid}-more`,
    `${valid}, ${valid}`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `cc-${TRACE_ID}-${PARENT_ID}-01.later`,
    `00-${"0".repeat(32)}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${"0".repeat(16)}-01`,
    `00-${TRACE_ID.slice(1)}"-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${PARENT_ID}-01${"-".repeat(10_000)}`,
    `0${valid}`,
    `00_${TRACE_ID}_${PARENT_ID}_01`,
  ])
    expect(requestFields({ id: "req_1", request: requestWith(header) })).toEqual({ request_id: "req_1" })
  expect(traceIdOf(new Request("http://localhost/"))).toBeNull()
})

test("the log of a request names it and its trace in each line", () => {
  const lines: LogFields[] = []
  const log = logOf((_level, _message, fields = {}) => void lines.push(fields), {
    id: "req_1",
    request: requestWith(`00-${TRACE_ID}-${PARENT_ID}-01`),
  })
  log("error", "account export failed", { error: "Error" })
  expect(lines).toEqual([{ request_id: "req_1", trace_id: TRACE_ID, error: "Error" }])
})
