import { expect, test } from "bun:test"
import { unknown } from "../../../src/base/finding.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { QuestionBudget } from "../../../src/check/mail/question-budget.ts"

/** A budget for acme.com, and how many of so many questions about names below a domain are asked. */
function budgetOf() {
  const budget = new QuestionBudget("acme.com")
  const asked: string[] = []
  const resolver: CachingResolver = ({ name }) => {
    asked.push(name)
    return Promise.resolve(unknown("timed_out"))
  }
  const askedOf = async (limited: CachingResolver, count: number, domain: string): Promise<number> => {
    await Promise.all(Array.from({ length: count }, (_, at) => limited({ name: `h${at}.${domain}`, type: "A" })))
    return asked.filter(name => name.endsWith(`.${domain}`)).length
  }
  const hostResolver: CachingResolver = async question =>
    budget.takeHost() ? await resolver(question) : unknown("unavailable")
  return { budget, resolver, hostResolver, askedOf }
}

test("mail hosts have what they may need of a check's twelve questions less four for its own records, and others have the rest", async () => {
  for (const [needed, ofHosts, ofOthers] of [
    [0, 0, 8],
    [2, 2, 6],
    [6, 6, 2],
    [40, 8, 0],
  ] as const) {
    const { budget, resolver, hostResolver, askedOf } = budgetOf()
    budget.beginHosts(needed)
    const others = askedOf(budget.limit(resolver), 20, "acme.com")
    expect(await askedOf(hostResolver, 20, "mx.net")).toBe(ofHosts)
    budget.endHosts()
    expect(await others).toBe(ofOthers)
  }
})

test("others wait for what mail hosts leave over, so that their number does not depend on who comes first", async () => {
  for (const comeFirst of ["hosts", "others"] as const) {
    const { budget, resolver, hostResolver, askedOf } = budgetOf()
    budget.beginHosts(6)
    const early = comeFirst === "others" ? askedOf(budget.limit(resolver), 20, "acme.com") : null
    const ofHosts = await askedOf(hostResolver, 3, "mx.net")
    budget.endHosts()
    expect(ofHosts).toBe(3)
    expect(await (early ?? askedOf(budget.limit(resolver), 20, "acme.com"))).toBe(5)
  }
})

test("the address of a domain without a mail host takes a question of others, and names of others have four", async () => {
  const { budget, resolver, askedOf } = budgetOf()
  budget.takeAddress()
  budget.beginHosts(0)
  budget.endHosts()
  expect(await askedOf(budget.limit(resolver), 20, "notacme.com")).toBe(4)
  expect(await askedOf(budget.limit(resolver), 20, "acme.com")).toBe(3)
})
