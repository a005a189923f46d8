import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NODE_BUN } from "../../../src/in-process/packing/bun.ts"
import { inputShapes } from "../../support/input-shapes.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

test("hashes as Bun does, whatever the length and script of a text", () => {
  const texts = Array.from({ length: 70 }, (_, length) => "abcdefghij".repeat(7).slice(0, length)).concat(
    inputShapes(300).map(({ input }, at) => input(at)),
  )
  expect(texts.map(NODE_BUN.hash.xxHash32)).toEqual(texts.map(text => Bun.hash.xxHash32(text)))
  expect(texts.map(text => NODE_BUN.SHA256.hash(text, "hex"))).toEqual(texts.map(text => Bun.SHA256.hash(text, "hex")))
})

/** Takes from the language what older runtimes lack, and compares what takes its place with it. Prints what differs. */
const COMPARE = `
const { groupBy } = Map, { withResolvers, try: attempt } = Promise, { parse } = URL, { escape } = RegExp, { fromAsync } = Array
for (const [owner, name] of [[Map, "groupBy"], [Map.prototype, "getOrInsertComputed"], [Promise, "withResolvers"], [Promise, "try"], [URL, "parse"], [RegExp, "escape"], [Array, "fromAsync"]]) delete owner[name]
const own = await import(process.argv[2])
const globals = [Map.groupBy, Promise.try, URL.parse, RegExp.escape, Array.fromAsync]
const { deepEquals } = Bun, differ = []
const same = (what, one, other) => deepEquals(one, other) || differ.push(what)
same("globals", globals, globals.map(() => undefined))
const texts = ["", "a.b", "0x", "[^a-z]$", "a b\\n", "é/\\\\", "-,=<>#&!%:;@~'\`\\"", "\\u2028", "https://x.y/z?q#f", "//x", "mailto:a@b"]
same("groupBy", [...own.Map.groupBy(texts, text => text.length)], [...groupBy.call(Map, texts, text => text.length)])
const map = new own.Map([["a", 1]])
same("getOrInsertComputed", [map.getOrInsertComputed("a", () => 2), map.getOrInsertComputed("b", key => key + 3), [...map]], [1, "b3", [["a", 1], ["b", "b3"]]])
for (const text of texts) for (const base of [undefined, "https://base.example/d/"]) same("parse " + text, own.URL.parse(text, base)?.href, parse.call(URL, text, base)?.href)
for (const text of texts) for (const flags of ["", "u", "v"]) for (const form of [(x) => "^" + x + "$", x => "^(?:" + x + ")+$"]) {
  const [pattern, expected] = [own.RegExp, RegExp].map((R, at) => new R(form((at === 0 ? own.RegExp.escape : escape)(text)), flags))
  for (const other of texts) same("escape " + text, pattern.test(other), expected.test(other))
}
const items = async function* () { yield* texts }
same("fromAsync", await own.Array.fromAsync(items()), texts)
const { promise, resolve, reject } = own.Promise.withResolvers()
resolve(1); reject(2)
same("withResolvers", await promise, 1)
same("try", [await own.Promise.try(x => x, 1), await own.Promise.try(() => { throw 2 }).catch(x => x), await own.Promise.all([3])], [1, 2, [3]])
const made = [[new own.URL("https://a"), URL], [new own.Promise(() => {}), Promise], [own.RegExp("a"), RegExp], [own.Array(2), Array], [map, Map]]
same("objects", made.map(([object, Class]) => object instanceof Class), made.map(() => true))
same("constructors", made.map(([object], at) => object instanceof own[["URL", "Promise", "RegExp", "Array", "Map"][at]]), made.map(() => true))
console.log(differ.join("\\n"))
`

test("what an older Node.js lacks of the language is replaced by what does the same, and no global gets it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-replacements-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "compare.mjs"), COMPARE)
  const language = join(import.meta.dir, "../../../src/in-process/packing/language.ts")
  const ended = await startProgram([process.execPath, "compare.mjs", language], directory, {}).ended()
  expect(ended).toEqual({ code: 0, out: "\n", err: "" })
})
