import { describe, expect, test } from "bun:test"
import { TypeCompiler } from "@sinclair/typebox/compiler"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { FeedbackBody, FeedbackReceipt } from "../../src/contract/feedback-schema.ts"
import { LIMITS } from "../../src/contract/limits.ts"

const body = TypeCompiler.Compile(FeedbackBody)
const receipt = TypeCompiler.Compile(FeedbackReceipt)

const faultsOf = (sent: unknown): string[] => [...new Set([...body.Errors(sent)].map(({ path }) => path))]

describe("the body of a report", () => {
  test("every category but `unknown` can be expected", () => {
    const accepted = CATEGORY_NAMES.filter(category => body.Check({ domain: "a.com", expected_category: category }))
    expect(accepted).toEqual(CATEGORY_NAMES.filter(category => category !== "unknown"))
  })

  test("unknown members are ignored", () => {
    expect(body.Check({ domain: "a.com", expected_category: "relay", extra: { deep: [1] } })).toBe(true)
  })

  test.each([
    [null, ""],
    [[], ""],
    ["x", ""],
    [{}, "/expected_category"],
    [{ expected_category: "unknown" }, "/expected_category"],
    [{ expected_category: "toString" }, "/expected_category"],
    [{ expected_category: null }, "/expected_category"],
    [{ expected_category: "relay", email: 1 }, "/email"],
    [{ expected_category: "relay", email: null }, "/email"],
    [{ expected_category: "relay", domain: ["a.com"] }, "/domain"],
    [{ expected_category: "relay", comment: null }, "/comment"],
    [{ expected_category: "relay", comment: 5 }, "/comment"],
  ])("%j is refused at %j", (sent, path) => {
    expect(body.Check(sent)).toBe(false)
    expect(faultsOf(sent)).toContain(path)
  })

  test("a comment has at most 1000 characters, whatever they are", () => {
    for (const character of ["a", "é", "💧"])
      for (const count of [0, LIMITS.commentLengthMax, LIMITS.commentLengthMax + 1]) {
        const sent = { expected_category: "relay", comment: character.repeat(count) }
        expect([count, body.Check(sent)]).toEqual([count, count <= LIMITS.commentLengthMax])
      }
    expect(body.Check({ expected_category: "relay", comment: "a".repeat(60_000) })).toBe(false)
    expect(FeedbackBody.properties.comment).toMatchObject({ type: "string", maxLength: LIMITS.commentLengthMax })
  })
})

test("a receipt holds what is documented and nothing else", () => {
  const sent = {
    id: "fb_x",
    status: "duplicate",
    domain: "a.com",
    current_category: "unknown",
    reported_category: "business",
  }
  expect(receipt.Check(sent)).toBe(true)
  expect(receipt.Check({ ...sent, comment: "x" })).toBe(false)
  expect(receipt.Check({ ...sent, status: "accepted" })).toBe(false)
  expect(receipt.Check({ ...sent, reported_category: "unknown" })).toBe(false)
  for (const name of Object.keys(sent)) expect(receipt.Check({ ...sent, [name]: undefined })).toBe(false)
})
