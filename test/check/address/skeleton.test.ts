import { expect, test } from "bun:test"
import { domainToASCII } from "node:url"
import { skeleton } from "../../../src/check/address/skeleton.ts"

const seen = (label: string) => skeleton(domainToASCII(label))

test("letters of other scripts look like ASCII ones", () => {
  expect(seen("аррӏе")).toEqual({ text: "appie", letters: "whole" })
  expect(seen("pаypal")).toEqual({ text: "paypal", letters: "mixed" })
  expect(seen("ɡoogle")).toEqual({ text: "google", letters: "mixed" })
  expect(seen("facebooк")).toEqual({ text: "facebook", letters: "mixed" })
})

test("accents and the letters of natural spellings are told apart from disguise", () => {
  expect(seen("nestlé")).toEqual({ text: "nestle", letters: "accented" })
  expect(seen("gmaıl")).toEqual({ text: "gmail", letters: "accented" })
  expect(seen("łódź")).toEqual({ text: "lodz", letters: "accented" })
})

test("what looks like no ASCII text has no skeleton", () => {
  expect(seen("中国")).toBeNull()
  expect(skeleton("gmail")).toBeNull()
  expect(skeleton("xn--")).toBeNull()
  expect(skeleton("xn--\u0000")).toBeNull()
  expect(skeleton(`xn--${"9".repeat(59)}`)).toBeNull()
})
