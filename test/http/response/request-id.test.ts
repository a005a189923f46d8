import { expect, test } from "bun:test"
import { createRequestIds } from "../../../src/http/response/request-id.ts"
import { random } from "../../customers/temp-store.ts"

test("no two requests have one id, in one run or in two", () => {
  const [one, other] = [createRequestIds(random), createRequestIds(random)]
  const ids = new Set(Array.from({ length: 10_000 }, () => [one(), other()]).flat())
  expect(ids.size).toBe(20_000)
  for (const id of [one(), other()]) expect(id).toMatch(/^req_[A-Za-z0-9]{18,}$/)
})

test("ids of one run follow one another, one by one, also where all of their last digits start anew", () => {
  const next = createRequestIds(random)
  const numbers = Array.from({ length: 3000 }, () => Number.parseInt(next().slice(-6), 36))
  expect(numbers.every((number, at) => at === 0 || number === (numbers[at - 1] ?? 0) + 1)).toBe(true)
})
