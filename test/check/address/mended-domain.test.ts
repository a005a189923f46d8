import { expect, test } from "bun:test"
import { mendedDomain } from "../../../src/check/address/mended-domain.ts"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"

test.each([
  ["jane@gmail,com", "gmail.com"],
  ["jane@gmail..com", "gmail.com"],
  ["jane@gmail.com.", "gmail.com"],
  ["jane@gmail.com,", "gmail.com"],
  ["jane@Gmail com", "gmail.com"],
  ['jane@gmail.com"', "gmail.com"],
  ["jane@yahoo,com.br", "yahoo.com.br"],
  ["gmail,com", "gmail.com"],
  ["gmail..com", "gmail.com"],
  // The domain is fine, or there is none.
  ["jane@gmail.com", null],
  ["jane..doe@gmail.com", null],
  ["gmail.com.", null],
  ["https://gmail,com/", null],
  ["jane@[127.0.0.1]", null],
  ["jane@gmail,", null],
  ["jane@,", null],
  ["jane@gmail_com", null],
  [`jane@${"a,".repeat(300)}com`, null],
] as const)("%s names, with its punctuation put right, %p", (sent, mended) => {
  expect(mendedDomain(parseSubject(detectSubjectKind(sent), sent, ""))).toBe(mended)
})
