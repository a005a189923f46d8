import { describe, expect, test } from "bun:test"
import { createAddressWords, findRoleWord, readAddressHints } from "../../../src/check/address/address-hints.ts"

const WORDS = createAddressWords({
  role: ["info", "hr", "no-reply", "sales", "support", "zorvelin", "zorvel", "press", "admin", "xu", "wexitor"],
  sharedInbox: ["info", "hr", "sales", "support", "zorvelin", "customer-quorin", "press"],
  group: ["team"],
  region: ["uk", "au", "xu", "qa", "norvia", "jordan", "emea", "fr", "nord"],
  personName: ["zorvelinuk", "zorvelan", "salesfr"],
  groupDomains: [],
})
const role = (name: string): string | null => {
  const word = findRoleWord(name, WORDS)
  // What the filters reject is no role.
  expect({ name, isRole: readAddressHints(name, "acme.com", WORDS).isRole }).toEqual({ name, isRole: word !== null })
  return word
}

describe("a role word is known beside regions, numbers and words for mailboxes, in any order", () => {
  test.each([
    ["support-fr", "support"],
    ["sales_emea", "sales"],
    ["norvia.info", "info"],
    ["uk.sales.nord", "sales"],
    ["hr.norvia", "hr"],
    ["no-reply-uk", "no-reply"],
    ["uk-no-reply2", "no-reply"],
    ["info-uk-2", "info"],
    ["info.2.uk", "info"],
    ["sales-team", "sales"],
    ["team.sales.emea", "sales"],
    ["sales-support-uk", "sales"],
    ["admin.fr", "admin"],
    ["a.b.c.d.e.f.info", null],
    ["uk.uk.uk.uk.uk.info", "info"],
    ["uk.uk.uk.uk.uk.uk.info", null],
    ["jane.info", null],
    ["info.jane", null],
    ["info-uk-jane", null],
    ["info-2024", null],
    ["norvia", null],
    ["norvia.uk", null],
    ["uk.xu", null],
    ["xu", "xu"],
    ["team.uk", null],
    ["", null],
    ["-", null],
  ])("%s: %p", (name, word) => {
    expect(role(name)).toBe(word)
  })
})

describe("a role word is known when it is joined with a region or a unit", () => {
  test.each([
    ["salesuk", "sales"],
    ["uksales", "sales"],
    ["infonorvia", "info"],
    ["norviainfo2", "info"],
    ["salesuk01", "sales"],
    ["salesteam", "sales"],
    ["adminuk", "admin"],
    // Codes that are no code of a large country, short words, words that are no shared inbox.
    ["salesqa", null],
    ["salesxu", null],
    ["hruk", null],
    ["zorveluk", null],
    ["zorvelinfr", "zorvelin"],
    ["zorvelinau", null],
    ["infoau", "info"],
    ["auzorvelin", "zorvelin"],
    ["jsales", null],
    ["salesman", null],
    ["ukukinfo", null],
  ])("%s: %p", (name, word) => {
    expect(role(name)).toBe(word)
  })
})

test("the name of a person is no role, however it is spelled", () => {
  for (const name of ["zorvelinuk", "zorvelan", "salesfr", "jordan.press", "jordan.sales", "jordanpress"])
    expect([name, role(name)]).toEqual([name, null])
  for (const name of ["jordan.info", "press.jordan", "uk.press", "jordansupport"])
    expect([name, role(name)]).not.toEqual([name, null])
})
