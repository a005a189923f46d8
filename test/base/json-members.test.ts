import { expect, test } from "bun:test"
import fc from "fast-check"
import { writtenMembers } from "../../src/base/json-members.ts"

test("the members of an object are those that are parsed, each as it is written", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, indent) => {
      const members = writtenMembers(JSON.stringify(object, null, indent))
      expect(members.map(([name, value]) => [name, JSON.parse(value)])).toEqual(
        Object.entries(JSON.parse(JSON.stringify(object))),
      )
    }),
  )
})

test("a name that is written twice is there twice, however it is written", () => {
  expect(writtenMembers(' {"a":1 , "\\u0061" : [{"a":"}"},2],"b":"c,\\"d"} ')).toEqual([
    ["a", "1"],
    ["a", '[{"a":"}"},2]'],
    ["b", '"c,\\"d"'],
  ])
})

test("a text that is no object has no members", () => {
  for (const text of ["[]", '[{"a":1}]', '"a"', "1", "null", "{}"]) expect(writtenMembers(text)).toEqual([])
})
