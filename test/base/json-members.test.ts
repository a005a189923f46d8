import { expect, test } from "bun:test"
import fc from "fast-check"
import { writtenMembers } from "../../src/base/json-members.ts"
import { MEMBERS_MAX } from "../../src/rows/input-rows.ts"

const texts = (line: string) => writtenMembers(line).map(({ name, text }) => [name, text])

test("a name that is written twice is there twice, however it is written", () => {
  expect(texts(' {"a":1 , "\\u0061" : [{"a":"}"},2],"b":"c,\\"d"} ')).toEqual([
    ["a", "1"],
    ["a", '[{"a":"}"},2]'],
    ["b", '"c,\\"d"'],
  ])
})

test("a text that is no object has no members", () => {
  for (const text of ["[]", '[{"a":1}]', '"a"', "1", "null", "{}"]) expect(writtenMembers(text)).toEqual([])
})

test("the members of an object are in its order, those of one name too, and values keep their text", () => {
  expect(texts('{"id":12345678901234567890,"a":1.50,"a":1e2,"10":null}')).toEqual([
    ["id", "12345678901234567890"],
    ["a", "1.50"],
    ["a", "1e2"],
    ["10", "null"],
  ])
  expect(texts("{}")).toEqual([])
})

test("quotes, commas and brackets in strings and in inner values end no value", () => {
  expect(texts('{ "a" : "}\\",{" , "b,\\u0022:" : { "c" : [ "]" , 1 ] } , "d" : [ {}, [] ] }')).toEqual([
    ["a", '"}\\",{"'],
    ['b,":', '{ "c" : [ "]" , 1 ] }'],
    ["d", "[ {}, [] ]"],
  ])
})

test("an object has a thousand members at most", () => {
  const line = (count: number): string => `{${Array(count).fill('"a":1').join(",")}}`
  expect(MEMBERS_MAX).toBe(1000)
  expect(writtenMembers(line(1000), MEMBERS_MAX)).toHaveLength(1000)
  expect(writtenMembers(line(1001), MEMBERS_MAX)).toBeNull()
})

test("the members of any object are those that JSON.parse finds", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, 2, "\t"), (object, space) => {
      const members = writtenMembers(JSON.stringify(object, null, space))
      expect(members.map(({ name, text }) => [name, JSON.parse(text)])).toEqual(
        Object.entries(JSON.parse(JSON.stringify(object))),
      )
    }),
  )
})
