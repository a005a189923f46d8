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

test("a short stem is only a word with its last letter doubled, as English spells it", () => {
  expect(isCommonWord("stopped")).toBe(true)
  expect(["charer", "stoped", "bater"].filter(isCommonWord)).toEqual([])
  expect(["boxer", "viewed", "looking", "maker", "joined"].filter(isCommonWord)).toHaveLength(5)
})
