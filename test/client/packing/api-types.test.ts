import { expect, test } from "bun:test"
import { API_LIMITS } from "../../../src/client/chunks.ts"
import { apiTypesText } from "../../../src/client/packing/api-types-text.ts"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { API_PROBLEM_CODES } from "../../../src/contract/problems.ts"

test("the types of the client have every category and problem, and take those of later versions", () => {
  const text = apiTypesText()
  for (const name of [...CATEGORY_NAMES, ...API_PROBLEM_CODES]) expect(text).toContain(`"${name}"`)
  expect(text).toContain("category: Category | (string & {})")
})

test("the limits of the client are those of the API", () => {
  expect(LIMITS).toMatchObject(API_LIMITS)
})
