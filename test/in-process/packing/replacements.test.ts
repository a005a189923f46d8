import { expect, test } from "bun:test"
import { NODE_BUN } from "../../../src/in-process/packing/bun.ts"
import { inputShapes } from "../../support/input-shapes.ts"

test("hashes as Bun does, whatever the length and script of a text", () => {
  const texts = Array.from({ length: 70 }, (_, length) => "abcdefghij".repeat(7).slice(0, length)).concat(
    inputShapes(300).map(({ input }, at) => input(at)),
  )
  expect(texts.map(NODE_BUN.hash.xxHash32)).toEqual(texts.map(text => Bun.hash.xxHash32(text)))
  expect(texts.map(text => NODE_BUN.SHA256.hash(text, "hex"))).toEqual(texts.map(text => Bun.SHA256.hash(text, "hex")))
})
