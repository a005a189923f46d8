import { expect, test } from "bun:test"
import { unknown } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { QuestionBudget } from "../../../src/check/mail/question-budget.ts"

/** A budget for acme.com, and how many of so many questions about names below a domain are asked. */
function budgetOf() {
  const budget = new QuestionBudget("acme.com")
  let askedCount = 0
  const resolver: CachingResolver = () => {
    askedCount++
    return Promise.resolve(unknown("timed_out"))
  }
  const askedOf = async (limited: CachingResolver, count: number, domain: string): Promise<number> => {
    const before = askedCount
    for (let at = 0; at < count; at++) await limited({ name: `h${at}.${domain}`, type: "A" })
    return askedCount - before
  }
  return { budget, resolver, askedOf }
}

test("mail hosts have eight questions of a check's twelve, four of them kept until the hosts are looked up", async () => {
  const { budget, resolver, askedOf } = budgetOf()
  expect(await askedOf(budget.limit(resolver), 20, "acme.com")).toBe(8)
  expect(await askedOf(budget.hosts.limit(resolver), 20, "mx.net")).toBe(4)

  const fresh = budgetOf()
  expect(await fresh.askedOf(fresh.budget.hosts.limit(fresh.resolver), 20, "mx.net")).toBe(8)
  expect(await fresh.askedOf(fresh.budget.limit(fresh.resolver), 20, "acme.com")).toBe(4)
})

test("what hosts do not need is given back, and names of others have four questions", async () => {
  const { budget, resolver, askedOf } = budgetOf()
  budget.hosts.end()
  expect(await askedOf(budget.limit(resolver), 20, "notacme.com")).toBe(4)
  expect(await askedOf(budget.limit(resolver), 20, "acme.com")).toBe(8)
})
