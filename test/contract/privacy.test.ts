import { expect, test } from "bun:test"
import { InvariantError } from "../../src/base/errors.ts"
import type { Log } from "../../src/base/log.ts"
import { Exchange } from "../../src/http/exchange.ts"
import { createCounterShard } from "../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import { createJsonResponses } from "../../src/http/response/json-responses.ts"
import { createToProblemResponse } from "../../src/http/response/problem-response.ts"

const ADDRESS = "jane.doe@private-example.com"

test("our own failure is logged with its place and without what a caller sent, and the caller learns nothing of it", async () => {
  const lines: string[] = []
  const log: Log = (level, message, fields) => void lines.push(JSON.stringify({ level, message, fields }))
  const refuse = createToProblemResponse({
    responses: createJsonResponses(() => "req_1", false),
    baseUrl: () => "http://localhost",
    log,
    meter: new Meter(createCounterShard()),
  })
  const request = new Request(`http://localhost/v1/check?email=${ADDRESS}`)
  const exchange = new Exchange(request, "req_1", "getCheck")
  for (const error of [
    new TypeError(`cannot read ${ADDRESS}`),
    new Error(ADDRESS),
    ADDRESS,
    null,
    new InvariantError("no_evidence always decides"),
  ]) {
    const answer = refuse(error, exchange)
    expect(answer.status).toBe(500)
    const text = await answer.text()
    expect(text).not.toContain("jane")
    expect(text).not.toContain("decides")
    expect(text).not.toContain("at ")
  }
  expect(lines).toHaveLength(5)
  expect(lines.join("\n")).not.toContain("jane")
  expect(lines[0]).toContain("TypeError")
  expect(lines[4]).toContain("no_evidence always decides")
})
