import { expect, test } from "bun:test"
import { dirname, join, normalize } from "node:path"
import { sourceFiles } from "./source-files.ts"

const TABLES = ["src/base", "src/contract"]
const PARSED = [...TABLES, "src/check/address", "src/check/lists"]
const STORED = [...TABLES, "src/customers/store"]
const AUDITED = [...STORED, "src/customers/audit"]

/** What each folder may import besides itself, most specific folder first: imports run down, never up. */
const LAYERS: readonly (readonly [folder: string, mayImport: readonly string[]])[] = [
  ["src/base", []],
  ["src/contract", ["src/base"]],
  ["src/config", ["src/base"]],
  // The package of the client holds nothing of the other folders.
  ["src/client/packing", [...TABLES, "src/client"]],
  ["src/client", []],
  ["src/check/address", TABLES],
  ["src/check/lists", TABLES],
  ["src/check/lookalike", PARSED],
  ["src/check/name-patterns", TABLES],
  ["src/check/dns", TABLES],
  ["src/check/fetch", [...TABLES, "src/check/dns"]],
  ["src/check/verdict", PARSED],
  ["src/check/result", [...PARSED, "src/check/verdict"]],
  ["src/check/refresh", [...TABLES, "src/check/lists", "src/check/fetch"]],
  ["src/check", TABLES.concat("src/check")],
  ["src/customers/store", ["src/base"]],
  ["src/customers/audit", STORED],
  ["src/customers/idempotency", STORED],
  ["src/customers/notices", STORED],
  ["src/customers/nodes", STORED],
  ["src/customers/quota", STORED],
  ["src/customers/usage", STORED],
  [
    "src/customers/jobs",
    [...AUDITED, "src/customers/idempotency", "src/customers/notices", "src/customers/quota", "src/customers/usage"],
  ],
  ["src/customers/evidence", STORED],
  ["src/customers/request-log", AUDITED],
  ["src/customers/accounts", [...AUDITED, "src/customers/notices", "src/customers/request-log"]],
  ["src/customers/terms", [...AUDITED, "src/customers/notices", "src/customers/accounts"]],
  ["src/customers/feedback", [...AUDITED, "src/customers/notices", "src/customers/accounts"]],
  ["src/customers/own-lists", [...AUDITED, "src/customers/accounts"]],
  ["src/customers/keys", [...AUDITED, "src/customers/notices", "src/customers/accounts"]],
  [
    "src/customers/sign-in",
    [...AUDITED, "src/customers/notices", "src/customers/accounts", "src/customers/keys", "src/customers/terms"],
  ],
  ["src/customers/free-checks", [...STORED, "src/customers/quota", "src/customers/sign-in"]],
  ["src/customers", [...TABLES, "src/customers"]],
  ["src/rows", [...TABLES, "src/check"]],
  ["src/mcp", [...TABLES, "src/check"]],
  ["src/licences", []],
  ["src/doctor", [...TABLES, "src/check", "src/customers"]],
  [
    "src/cli",
    [...TABLES, "src/client", "src/check", "src/rows", "src/customers", "src/licences", "src/doctor", "src/mcp"],
  ],
  ["src/jobs", [...TABLES, "src/check", "src/rows", "src/customers"]],
  ["src/http", [...TABLES, "src/check", "src/rows", "src/customers", "src/jobs", "src/licences", "src/mcp"]],
  ["src/system", [...TABLES, "src/check", "src/customers"]],
  [
    "src/process",
    [...TABLES, "src/check", "src/rows", "src/customers", "src/jobs", "src/licences", "src/http", "src/system"],
  ],
  ["src/in-process", ["src"]],
  ["src/assemble", ["src"]],
  ["src", ["src"]],
]

/** The folders that see settings, and the only files at the top of `src`. */
const SEES_SETTINGS = /^src\/(?:assemble|system|config)\/|^src\/main\.ts$/
const TOP = ["src/build.ts", "src/main.ts"]

/** Text that stands in `data/` or in package.json belongs to nobody and may be read by all. */
const DATA = /^(data\/|package\.json$)/

const imports = sourceFiles("src").flatMap(({ path, text }) =>
  // `Bun.Transpiler.scanImports` drops `import type`, so specifiers are read from the text.
  [...text.matchAll(/^\s*(?:import|export)\b[^"]*?from\s+"([^"]+)"/gm), ...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(
    ([, specifier = ""]) => ({
      path,
      specifier,
      target: specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier,
    }),
  ),
)

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

test("every file imports only what stands below it", () => {
  const breaches = imports
    .filter(({ specifier, target }) => specifier.startsWith(".") && !DATA.test(target))
    .filter(({ path, target }) => {
      const [folder, mayImport] = LAYERS.find(([name]) => within(path, name)) ?? ["", []]
      return !within(target, folder) && !mayImport.some(name => within(target, name))
    })
  expect(breaches.map(({ path, target }) => `${path} imports ${target}`)).toEqual([])
})

test("the checking wing and the customers wing never import each other", () => {
  const breaches = imports.filter(
    ({ path, target }) =>
      (within(path, "src/check") && within(target, "src/customers")) ||
      (within(path, "src/customers") && within(target, "src/check")),
  )
  expect(breaches).toEqual([])
})

test("only main, assembly and the system see settings", () => {
  const seers = imports.filter(({ target }) => within(target, "src/config")).map(({ path }) => path)
  expect(seers.filter(path => !SEES_SETTINGS.test(path))).toEqual([])
})

test("no source file is loose at the top of src", () => {
  const loose = sourceFiles("src").filter(({ path }) => dirname(path) === "src" && !TOP.includes(path))
  expect(loose.map(({ path }) => path)).toEqual([])
})

test("imports name the file that defines the name, with its ending", () => {
  const vague = imports.filter(
    ({ specifier }) => specifier.startsWith(".") && !/\.(ts|tsx|js|json|txt|css|md|py)$/.test(specifier),
  )
  expect(vague).toEqual([])
})

test("no file imports itself through others", () => {
  const edges = new Map<string, string[]>()
  for (const { path, target } of imports) edges.set(path, [...(edges.get(path) ?? []), target])
  const done = new Set<string>()
  const circles: string[][] = []
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path])
    if (done.has(path) || trail.includes(path)) return
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  expect(circles).toEqual([])
})

test("every folder of the house has a row in the table of layers", () => {
  const folders = new Set(sourceFiles("src").map(({ path }) => dirname(path)))
  const strangers = [...folders].filter(
    folder => folder !== "src" && !LAYERS.some(([name]) => name !== "src" && within(folder, name)),
  )
  expect(strangers).toEqual([])
})
