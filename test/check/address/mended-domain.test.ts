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
  // Of several at signs only those in quotes are no fault of their own.
  ['"jane@work"@gmail,com', "gmail.com"],
  ["jane@@gmail,com", null],
  ["jane@work@gmail,com", null],
  ["jane@gmail.com, joe@gmail,com", null],
  ["jane@gmail,com@", null],
  ["jane@,@.,", null],
] as const)("%s names, with its punctuation put right, %p", (sent, mended) => {
  expect(mendedDomain(parseSubject(detectSubjectKind(sent), sent, ""))).toBe(mended)
})

const LONG = 64 * 1024

test.each([
  ["at signs", "@".repeat(LONG), null],
  ["at signs before a domain", `${"@".repeat(LONG)}gmail,com`, null],
  ["dots", `jane@${".".repeat(LONG)}gmail.com`, null],
  ["commas and dots in turn", `jane@${",.".repeat(LONG)}`, null],
  ["as much white space as a domain may have bytes", `jane@gmail${" ".repeat(200)}com`, "gmail.com"],
  ["opening quotes", `jane@${"<(".repeat(LONG)}gmail.com`, null],
  ["letters of several scripts", "ä@б,ч。中．".repeat(LONG / 8), null],
  ["halves of surrogate pairs", `jane@\ud800,${"\udc00".repeat(LONG)}`, null],
] as const)("%s without end cost little and mend nothing that is too long", (_what, sent, mended) => {
  for (const kind of ["email", "domain", "url"] as const) {
    const found = mendedDomain(parseSubject(kind, sent, ""))
    expect(found).toBe(kind === "email" ? mended : null)
  }
})
