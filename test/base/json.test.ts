import { expect, test } from "bun:test"
import { jsonIn } from "../../src/base/json.ts"

test("a JSON text is what it says, also null, and any other text is undefined", () => {
  expect([jsonIn("null"), jsonIn('{"a":[1]}'), jsonIn(' "x" ')]).toEqual([null, { a: [1] }, "x"])
  for (const text of ["", "{", "undefined", "{'a':1}", "1 2"]) expect(jsonIn(text)).toBeUndefined()
})
