import { expect, test } from "bun:test"
import { basename, join } from "node:path"
import { codeOf, ROOT, sourceFiles } from "./source-files.ts"

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 64

const all = [...sourceFiles("src"), ...sourceFiles("test"), ...sourceFiles("bench")]
const src = sourceFiles("src")

const found = (files: typeof all, pattern: RegExp): string[] =>
  files.flatMap(({ path, text }) => [...codeOf(text).matchAll(pattern)].map(([match]) => `${path}: ${match.trim()}`))

test("a source file is a sitting", () => {
  const long = src.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
  expect(long.filter(({ lines }) => lines > FILE_LINES_MAX)).toEqual([])
})

test("a function fits a screen", () => {
  const long = src.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?(?:async )?function\*? (\w+)[\s\S]*?^}$/gm)]
      .map(([body, name]) => ({ path, name, lines: body.split("\n").length }))
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX),
  )
  expect(long).toEqual([])
})

test("time, chance, the network and the environment come in through the door", () => {
  const door = /^src\/system\/|^src\/main\.ts$|^src\/base\//
  const stray =
    /\b(?:Date\.now|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|process\.env|crypto\.(?:getRandomValues|randomUUID)|(?<![.\w])fetch)\b\s*\(?/g
  const strays = found(
    src.filter(({ path }) => !door.test(path)),
    stray,
  )
  // `Bun.serve` calls the function that answers `fetch`; it asks nobody.
  expect(strays.filter(line => !/^src\/(?:assemble\/server|process\/http-listener)\.ts: fetch$/.test(line))).toEqual([])
})

test("files are named after the one thing they hold", () => {
  const homeless = /(^|\/)(utils?|helpers?|common|types|misc|index)(\/|\.tsx?$)/
  expect(
    all
      .filter(({ path }) => homeless.test(path) || !/^[a-z0-9.-]+\.tsx?$/.test(basename(path)))
      .map(({ path }) => path),
  ).toEqual([])
})

test("no two exported types have one name", () => {
  const names = src.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:abstract )?(?:type|class|interface) (\w+)/gm)].map(([, name = ""]) => ({
      name,
      path,
    })),
  )
  const byName = Map.groupBy(names, ({ name }) => name)
  expect(
    [...byName]
      .filter(([, found]) => found.length > 1)
      .map(([name, found]) => `${name}: ${found.map(({ path }) => path)}`),
  ).toEqual([])
})

test("there are no default exports, enums, non-null assertions, `any` or suppressed checks", () => {
  expect(found(all, /\bexport default\b|^\s*(?:export )?(?:const )?enum \w+|:\s*any\b|\bas any\b/gm)).toEqual([])
  expect(
    all
      .filter(({ text }) => /@ts-(?:ignore|nocheck|expect-error)/.test(text) && !text.includes("house"))
      .map(({ path }) => path),
  ).toEqual([])
})

test("a suppressed lint rule says why on its line", () => {
  const silent = all
    .filter(({ path }) => !path.startsWith("test/architecture/"))
    .flatMap(({ path, text }) => [...text.matchAll(/biome-ignore[^\n]*/g)].map(([line]) => `${path}: ${line}`))
  expect(silent.filter(line => !/biome-ignore(?:-all)? [\w/]+: \w+/.test(line))).toEqual([])
})

test("every test that is skipped says why", () => {
  expect(
    found(
      all.filter(({ path }) => path.startsWith("test/")),
      /\b(?:test|describe|it)\.(?:skip|todo|only)\(/g,
    ),
  ).toEqual([])
})

test("no assertion runs the event loop inside of itself", () => {
  expect(found(all, /\.(?:rejects|resolves)\b/g)).toEqual([])
})

test("what helpers of tests open ends with each test that opened it", () => {
  const shared = all.filter(({ path }) => /^test\//.test(path) && !/\.test\.ts$|^test\/preload\.ts$/.test(path))
  expect(found(shared, /^(?:before|after)(?:Each|All)\(/gm)).toEqual([])
})

test("every file in the table of slow test files is there", async () => {
  const { files } = await Bun.file(join(ROOT, "test/timings.json")).json()
  expect(Object.keys(files).filter(path => !all.some(file => file.path === path))).toEqual([])
})

test("no file speaks of work that is left", () => {
  const marks = new RegExp(["TO", "DO|FIX", "ME|XX", "X"].join(""))
  expect(all.filter(({ text }) => marks.test(text)).map(({ path }) => path)).toEqual([])
})

test("every export of the house says what it promises", () => {
  const silent = src.flatMap(({ path, text }) => {
    const lines = text.split("\n")
    return (
      lines
        .map((line, at) => ({ path, line, before: lines[at - 1] ?? "" }))
        .filter(({ line }) => /^export (?:async )?(?:function|const|class|type) /.test(line))
        // The names and types read out of a table have the table's sentence; a run of exports has that of its first.
        .filter(({ line }) => !/= (?:keyof typeof|\(typeof \w+\)\[number\]|Static<|Object\.keys\()/.test(line))
        .filter(({ before }) => !/\*\/$|^\/\/ biome-|^export (?:const|type) /.test(before))
    )
  })
  expect(silent.map(({ path, line }) => `${path}: ${line}`)).toEqual([])
})
