import { expect, test } from "bun:test"
import { requestIds } from "../../src/http/request-id.ts"
import { random } from "../customers/temp-store.ts"

test("no two requests have one id, in one run or in two", () => {
  const [one, other] = [requestIds(random), requestIds(random)]
  const ids = new Set(Array.from({ length: 10_000 }, () => [one(), other()]).flat())
  expect(ids.size).toBe(20_000)
  for (const id of [one(), other()]) expect(id).toMatch(/^req_[A-Za-z0-9]{18,}$/)
})
