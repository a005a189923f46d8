import { expect, test } from "bun:test"
import { isCommonWord } from "../../../src/check/lookalike/word-lists.ts"

test.each(["target", "apples", "chatter", "orange", "quickly", "making", "carries", "slack", "visa"])(
  "%s is a word",
  word => {
    expect(isCommonWord(word)).toBe(true)
  },
)

test.each(["paypal", "amazon", "orangr", "gmial", "ups", "twitter", "", "s", "a\nb", "netflix"])("%j is none", word => {
  expect(isCommonWord(word)).toBe(false)
})
