import { expect, test } from "bun:test"
import { mixRequests } from "../../../bench/load/mix.ts"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../../src/contract/limits.ts"

test("every kind of a mix has its share, mingled, and the same on every call", () => {
  const requests = mixRequests({ check: 80, batch: 10, domain: 10 })
  const counts = Object.groupBy(requests, ({ body }) => Object.keys(JSON.parse(body)).join())
  expect(Object.fromEntries(Object.entries(counts).map(([kind, all]) => [kind, all?.length]))).toEqual({
    email: 800,
    items: 100,
    domain: 100,
  })
  expect(requests.slice(0, 100).some(({ body }) => body.includes("items"))).toBe(true)
  expect(mixRequests({ check: 80, batch: 10, domain: 10 })).toEqual(requests)
})

test("shares are shares, whatever their sum, and the smallest is not left out", () => {
  expect(mixRequests({ check: 1, domain: 1 })).toHaveLength(1000)
  expect(mixRequests({ check: 999, url: 0.001 }).filter(({ body }) => body.includes('"url"'))).toHaveLength(1)
})

test("every input is one that can be checked, and a batch is full", () => {
  const inputs = mixRequests({ check: 1, domain: 1, url: 1, batch: 1 }).flatMap(({ body }): string[] => {
    const [value] = Object.values<string | string[]>(JSON.parse(body))
    if (Array.isArray(value)) expect(value).toHaveLength(LIMITS.batchItemsMax)
    return [value ?? []].flat()
  })
  const faults = new Set(inputs.map(input => parseSubject(detectSubjectKind(input), input, "mailkind.test").fault))
  expect([...faults]).toEqual([null])
  expect(new Set(inputs.map(detectSubjectKind))).toEqual(new Set(["email", "domain", "url"]))
})
