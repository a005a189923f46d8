import { expect, test } from "bun:test"
import { rateSubject } from "../../../../src/customers/quota/rate/rate-subject.ts"

test("a client that is gone, whose name is empty, is not all clients together", () => {
  expect(rateSubject("signIn", "")).not.toBe(rateSubject("signIns"))
  expect(rateSubject("leakReport", "")).not.toBe(rateSubject("leakReports"))
  expect(rateSubject("freeCheck", "")).not.toBe(rateSubject("freeCheckStrikes"))
})
