import { expect, test } from "bun:test"
import { basename, join } from "node:path"
import { SETTINGS } from "../../src/config/settings.ts"
import { sizesOf } from "./sizes.ts"
import { codeOf, ROOT, sourceFiles } from "./source-files.ts"

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 50

const all = [...sourceFiles("src"), ...sourceFiles("scripts"), ...sourceFiles("test"), ...sourceFiles("bench")]
const src = sourceFiles("src")

const found = (files: typeof all, pattern: RegExp): string[] =>
  files.flatMap(({ path, text }) => [...codeOf(text).matchAll(pattern)].map(([match]) => `${path}: ${match.trim()}`))

test("the table of sizes counts the settings, and all that a check loads", () => {
  const sizes = new Map(sizesOf(ROOT).map(({ what, count }) => [what, count]))
  expect(sizes.get("settings")).toBe(Object.keys(SETTINGS).length)
  expect(sizes.get("what POST /v1/check loads")).toBeWithin(2, sizes.get("src") ?? 0)
})

test("each setting is read by a part", () => {
  const readers = src.filter(({ path }) => !path.startsWith("src/config/")).map(({ text }) => text)
  expect(Object.keys(SETTINGS).filter(name => !readers.some(text => text.includes(name)))).toEqual([])
})

test("a source file has at most 400 lines", () => {
  // Nobody reads what a program writes from a table.
  const read = src.filter(({ path }) => path !== "src/client/api-types.ts")
  const long = read.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
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

test("only system/, base/, main.ts and the platform of the client use the clock, randomness, the network and the environment", () => {
  const door = /^src\/system\/|^src\/main\.ts$|^src\/base\/|^src\/client\/platform\.ts$/
  const stray =
    /\b(?:Date\.now|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|process\.env|crypto\.(?:getRandomValues|randomUUID)|(?<![.\w])fetch)\b\s*\(?/g
  // The programs that the reference writes for others use them.
  const strays = found(
    src.filter(({ path }) => !door.test(path) && path !== "src/http/site/reference/request-samples.ts"),
    stray,
  )
  // Here `fetch` is the name of the handler that `Bun.serve` calls.
  expect(strays.filter(line => !/^src\/(?:assemble\/server|process\/http-listener)\.ts: fetch$/.test(line))).toEqual([])
})

test("no import loads the client of PostgreSQL at the start of a server that has SQLite", () => {
  expect(found(src, /^import \{[^}]*(?<!type )\bSQL\b[^}]*\} from "bun"/gm)).toEqual([])
})

test("files have kebab-case names that say what they hold", () => {
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

test("comments cite no document outside the tree, and only decisions that exist", async () => {
  const comments = all
    .filter(({ path }) => !path.startsWith("test/architecture/"))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm)].map(([comment]) => ({ path, comment })),
    )
  const outside =
    /\bdecisions? §|\b(?:decisions|interface|operation|STYLE|STACK|GLOSSARY)(?:-\d)?\.md|\.\.\/shared|\(interface, /
  expect(comments.filter(({ comment }) => outside.test(comment))).toEqual([])
  const text = await Bun.file(join(ROOT, "src/DECISIONS.md")).text()
  const numbers = [...text.matchAll(/^(\d+)\. \*\*/gm)].map(([, number]) => Number(number))
  expect(numbers).toEqual([...new Set(numbers)])
  const cited = comments.flatMap(({ path, comment }) =>
    [...comment.matchAll(/\bDECISIONS ([\d, and]*\d)/g)].flatMap(([, list = ""]) =>
      (list.match(/\d+/g) ?? []).map(number => ({ path, number: Number(number) })),
    ),
  )
  expect(cited.filter(({ number }) => !numbers.includes(number))).toEqual([])
})

test("no file only passes on the exports of others", () => {
  const barrels = all.filter(
    ({ text }) =>
      !codeOf(text)
        .replace(/^(?:import|export)\b[^;\n]*(?:\{[^}]*\})?[^\n]*from ""$/gm, "")
        .trim(),
  )
  expect(barrels.map(({ path }) => path)).toEqual([])
})

test("there are no default exports, enums, non-null assertions, `any` or suppressed checks", () => {
  expect(found(all, /\bexport default\b|^\s*(?:export )?(?:const )?enum \w+|:\s*any\b|\bas any\b/gm)).toEqual([])
  expect(
    all
      .filter(
        ({ path, text }) => /@ts-(?:ignore|nocheck|expect-error)/.test(text) && !path.startsWith("test/architecture/"),
      )
      .map(({ path }) => path),
  ).toEqual([])
})

test("a suppressed lint rule has its reason on the same line", () => {
  const silent = all
    .filter(({ path }) => !path.startsWith("test/architecture/"))
    .flatMap(({ path, text }) => [...text.matchAll(/biome-ignore[^\n]*/g)].map(([line]) => `${path}: ${line}`))
  expect(silent.filter(line => !/biome-ignore(?:-all)? [\w/]+: \w+/.test(line))).toEqual([])
})

test("no test is skipped, left for later or run alone without a reason in its name", () => {
  expect(
    found(
      all.filter(({ path }) => path.startsWith("test/")),
      /\b(?:test|describe|it)\.(?:skip|todo|only)\(/g,
    ),
  ).toEqual([])
})

test("no assertion awaits a promise inside itself, which loses events of other processes", () => {
  expect(found(all, /\.(?:rejects|resolves)\b/g)).toEqual([])
})

test("shared test code registers no hooks of its own", () => {
  const shared = all.filter(({ path }) => /^test\//.test(path) && !/\.test\.ts$|^test\/preload\.ts$/.test(path))
  expect(found(shared, /^(?:before|after)(?:Each|All)\(/gm)).toEqual([])
})

test("every file in the table of slow test files exists", async () => {
  const { files } = await Bun.file(join(ROOT, "test/timings.json")).json()
  expect(Object.keys(files).filter(path => !all.some(file => file.path === path))).toEqual([])
})

test("no file contains a mark for unfinished work", () => {
  const marks = new RegExp(["TO", "DO|FIX", "ME|XX", "X"].join(""))
  expect(all.filter(({ text }) => marks.test(text)).map(({ path }) => path)).toEqual([])
})

test("every exported declaration of src has a docstring", () => {
  const silent = src.flatMap(({ path, text }) => {
    const lines = text.split("\n")
    return (
      lines
        .map((line, at) => ({ path, line, before: lines[at - 1] ?? "" }))
        .filter(({ line }) => /^export (?:async )?(?:function|const|class|type) (?!\{)/.test(line))
        // Names and types derived from a table share the table's docstring, and a run of exports that of its first; overloads share one.
        .filter(({ line }) => !/= (?:keyof typeof|\(typeof \w+\)\[number\]|Static<|Object\.keys\()/.test(line))
        .filter(({ before }) => !/\*\/$|^\/\/ biome-|^export (?:const|type) |^export function \w+\([^{]*$/.test(before))
    )
  })
  expect(silent.map(({ path, line }) => `${path}: ${line}`)).toEqual([])
})
