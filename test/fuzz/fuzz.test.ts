import { expect, setDefaultTimeout, test } from "bun:test"
import { ROUTES } from "../../src/contract/routes.ts"
import { answerIn } from "./answers.ts"
import { Dice } from "./dice.ts"
import { fuzz } from "./run.ts"
import { fuzzZones } from "./zone-run.ts"

setDefaultTimeout(180_000)

test("requests that are wrong in every way that we know are refused as documented, and nothing fails, is left or is logged of them", async () => {
  const report = await fuzz({ requests: 2000, seed: 1, connections: 32, from: 0 })
  const { wrong, inLog, answers, served, descriptorsBefore, descriptorsAfter, exitCode } = report
  expect(wrong.map(({ description, number }) => `${number}: ${description}`)).toEqual([])
  expect(inLog).toEqual([])
  expect([descriptorsAfter - descriptorsBefore, exitCode]).toEqual([0, 0])
  // It was not all refused at the door.
  expect(Object.keys(served).length).toBeGreaterThan(Object.keys(ROUTES).length / 2)
  for (const status of [200, 202, 303, 400, 401, 403, 404, 405]) expect(answers[status]).toBeGreaterThan(0)
})

test("domains in whose zones anything may stand have a verdict, the same when it is cached, and nothing is logged of them", async () => {
  const { wrong, inLog, answers, exitCode } = await fuzzZones({ zones: 60, seed: 1, connections: 16 })
  expect({ wrong, inLog, answers, exitCode }).toEqual({ wrong: [], inLog: [], answers: { 200: 120 }, exitCode: 0 })
})

test("a seed and a number make the same request on every run", () => {
  const texts = (seed: number, number: number) => {
    const dice = new Dice(seed, number)
    return dice.times(50, () => dice.below(1_000_000))
  }
  expect(texts(1, 7)).toEqual(texts(1, 7))
  expect(texts(1, 7)).not.toEqual(texts(1, 8))
  expect(texts(1, 7)).not.toEqual(texts(2, 7))
})

test("an answer is read to its end, whatever tells of it", () => {
  const read = (text: string, method = "GET", isOver = false) => answerIn(Buffer.from(text), method, isOver)
  expect(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")).toMatchObject({ status: 200, body: "ab" })
  expect(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab")).toBeNull()
  expect(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "GET", true)).toBe("unreadable")
  expect(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD")).toMatchObject({ status: 200, body: "" })
  expect(read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n")).toMatchObject({ status: 204 })
  const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
  expect(read(chunked)).toBeNull()
  expect(read(`${chunked}0\r\n\r\n`)).toMatchObject({ body: "ab" })
  const gzipped = Buffer.concat([
    Buffer.from("HTTP/1.1 404 No\r\nContent-Encoding: gzip\r\nContent-Length: 22\r\n\r\n"),
    Bun.gzipSync("ab"),
  ])
  expect(answerIn(gzipped, "GET", true)).toMatchObject({ status: 404, body: "ab" })
  expect(read("HTTP/1.1 200")).toBeNull()
  expect(read("nothing\r\n\r\n")).toBe("unreadable")
})
