import { expect, test } from "bun:test"
import { commonestProblems, NO_ROW_COUNTS } from "../../src/contract/row-counts.ts"
import { problemOf, RowCounter } from "../../src/rows/row-counter.ts"

const problem = (category: string, recommendation: string, ...reasons: string[]) =>
  problemOf({ policy: "b2b", verdict: { category, recommendation, reasons } } as unknown as Parameters<
    typeof problemOf
  >[0])

test("the problem of a row is what decides its category, else what raises its recommendation, and no reason of a later version", () => {
  expect(problem("personal", "allow", "free_provider", "allowlisted")).toBeNull()
  expect(problem("personal", "review", "free_provider", "dns_unavailable")).toBe("free_provider")
  expect(problem("personal", "block", "free_provider", "blocklisted")).toBe("blocklisted")
  expect(problem("business", "review", "mx_found", "role_account", "spf_missing")).toBe("role_account")
  expect(problem("education", "review", "education_suffix", "mx_found")).toBe("education_suffix")
  expect(problem("disposable", "review", "listing_contradicted", "dns_unavailable")).toBe("listing_contradicted")
  expect(problem("business", "review", "of_tomorrow")).toBeNull()
})

test("counts of later rows are added, and the first row of a problem stays the first", () => {
  const counter = new RowCounter()
  const first = {
    ...NO_ROW_COUNTS,
    rows: 2,
    cleaned: 1,
    byCategory: { invalid: 2 },
    problems: { too_long: { rows: 2, first: 4 } },
  }
  counter.add(first)
  counter.add({
    ...first,
    byCategory: { relay: 1 },
    problems: { too_long: { rows: 1, first: 9 }, unreadable: { rows: 3, first: 8 } },
  })
  expect(counter.counts()).toMatchObject({
    ...{ rows: 4, cleaned: 2, byCategory: { invalid: 2, relay: 1 } },
    problems: { too_long: { rows: 3, first: 4 }, unreadable: { rows: 3, first: 8 } },
  })
})

test("at most three problems are told, the commonest first, and of equal ones the earlier", () => {
  const problems = {
    ...{ unreadable: { rows: 5, first: 7 }, null_mx: { rows: 9, first: 2 }, too_long: { rows: 5, first: 3 } },
    ...{ no_mail_host: { rows: 4, first: 1 }, of_tomorrow: { rows: 99, first: 1 } },
  }
  expect(commonestProblems(problems)).toEqual([
    { reason: "null_mx", rows: 9, first_row: 2 },
    { reason: "too_long", rows: 5, first_row: 3 },
    { reason: "unreadable", rows: 5, first_row: 7 },
  ])
})
