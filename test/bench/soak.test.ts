import { describe, expect, test } from "bun:test"
import { SOAK_KINDS } from "../../bench/cases/soak-kinds.ts"
import { answersOf, expectAnswers, expectedAnswers, soakRequests } from "../../bench/cases/soak-requests.ts"
import { PROBLEMS } from "../../src/contract/problems.ts"

const CALLERS = { key: "main", keys: ["s1", "s2", "p1", "s3", "s4", "p2"] }
const textsOf = (requests: readonly Uint8Array[]): readonly string[] =>
  requests.map(request => new TextDecoder().decode(request))

describe("requests", () => {
  const next = soakRequests(new URL("http://127.0.0.1:8080"), CALLERS)
  const first = textsOf(next(1000))
  const second = textsOf(next(1000))

  test("of each kind are as many as its share in every thousand", () => {
    expect(Object.values(SOAK_KINDS).reduce((sum, { share }) => sum + share, 0)).toBe(1000)
    for (const texts of [first, second]) {
      expect(texts.filter(text => text.startsWith("GET /v1/usage "))).toHaveLength(SOAK_KINDS.usage.share)
      expect(texts.filter(text => text.startsWith("GET /v1/health "))).toHaveLength(SOAK_KINDS.health.share)
    }
  })

  test("go on where they ended, so that domains which seldom come do not come again", () => {
    const seldom = (texts: readonly string[]) => texts.flatMap(text => /jane\.doe\d+@([\w.-]+)/.exec(text)?.[1] ?? [])
    const domains = [...seldom(first), ...seldom(second)]
    expect(domains).toHaveLength(280)
    expect(new Set(domains).size).toBe(280)
  })

  test("come from the main account, other keys, pages and nobody", () => {
    const callers = new Set(first.map(text => /^Authorization: Bearer (\w{2,4})\r$/m.exec(text)?.[1] ?? "nobody"))
    expect(callers).toEqual(new Set(["main", "s1", "s4", "p1", "p2", "nobody"]))
    const page = first.find(text => text.includes("Bearer p2\r") && text.includes("customer"))
    expect(page).toContain("Origin: https://www.customer1.example")
  })
})

describe("answers", () => {
  const counts = (requests: number) => ({ ...expectedAnswers(requests) })

  test("are expected by problems that there are", () => {
    for (const answer of Object.keys(counts(1000))) {
      const [status, code] = answer.split(" ")
      if (code !== undefined) expect(String(PROBLEMS[code as keyof typeof PROBLEMS].status)).toBe(status ?? "")
    }
  })

  test("are counted by status and code, a status without a problem by itself", () => {
    const report = { byStatus: { "200": 7, "401": 5 }, byProblem: { "401 invalid_key": 2, "401 unauthorized": 2 } }
    expect(answersOf([report, report])).toEqual({ "200": 14, "401": 2, "401 invalid_key": 4, "401 unauthorized": 4 })
  })

  test("that should not come, or come too often or too seldom, are refused", () => {
    const facts = (more: Readonly<Record<string, number>>) => () => expectAnswers({ ...counts(100_000), ...more })
    expect(facts({})).not.toThrow()
    expect(facts({ "500 internal_error": 1 })).toThrow("500 internal_error: 1, not 0")
    expect(facts({ "400 invalid_input": 3290 })).not.toThrow()
    expect(facts({ "400 invalid_input": 3400 })).toThrow("400 invalid_input")
    expect(facts({ "404 not_found": 1600 })).toThrow("404 not_found")
    expect(facts({ "202": 0 })).toThrow("202")
  })
})
