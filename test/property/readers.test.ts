import { expect, setDefaultTimeout, test } from "bun:test"
import { codeOf, sourceFiles } from "../architecture/source-files.ts"
import { outcomeOf } from "../support/outcome-of.ts"
import { growsTooFast } from "./readers/judge.ts"
import { framed } from "./readers/reader.ts"
import { READERS } from "./readers/readers.ts"
import { UNLISTED_READERS } from "./readers/unlisted-readers.ts"

setDefaultTimeout(300_000)

/** How code begins to read bytes or text that it has not written. */
const READING =
  /\bJSON\.parse\(|\bparseJson\(|\bdecodeUtf8\(|\bisUtf8\(|\bnew TextDecoder\b|\bparseToml\(|\bnew URLSearchParams\(|\bheaders\.get\(|\bcreateGunzip\b|\bgunzip\w*\(|\bzstdDecompress\w*\(|\bTokenizer\)|\.formData\(|\breadTextBody\(/

test("each file that reads bytes from outside has a reader in the table, or a reason why it has none", () => {
  const reading = sourceFiles("src")
    .filter(({ text }) => READING.test(codeOf(text)))
    .map(({ path }) => path.slice("src/".length))
  const listed = new Set(READERS.flatMap(({ files }) => files))
  const unlisted = new Set<string>(Object.values(UNLISTED_READERS).flat())
  expect(reading.filter(path => !listed.has(path) && !unlisted.has(path))).toEqual([])
  const paths = new Set(sourceFiles("src").map(({ path }) => path.slice("src/".length)))
  expect([...listed].filter(path => !paths.has(path))).toEqual([])
  expect([...unlisted].filter(path => !reading.includes(path) || listed.has(path))).toEqual([])
})

test("each reader takes a plain input, so that what is searched gets as far as it can", async () => {
  expect(new Set(READERS.map(({ name }) => name)).size).toBe(READERS.length)
  for (const reader of READERS) {
    const outcome = await outcomeOf((async () => reader.read(framed(reader, reader.plain)))())
    expect([reader.name, outcome]).toEqual([reader.name, expect.any(Function)])
    outcome()
  }
})

test.each(READERS.map(reader => [reader.name, reader] as const))(
  "%s: eight times the bytes never take the work of the square, whatever they are",
  async (_, reader) => expect(await growsTooFast(reader)).toEqual([]),
)
