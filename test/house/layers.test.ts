import { expect, test } from "bun:test"
import { dirname, join, normalize } from "node:path"
import { sourceFiles } from "./source.ts"

/** What each folder may import besides itself, most specific folder first: imports run down, never up. */
const LAYERS: readonly (readonly [folder: string, mayImport: readonly string[]])[] = [
  ["src/base", []],
  ["src/contract", ["src/base"]],
  ["src/config", ["src/base"]],
  ["src/check/address", ["src/base", "src/contract"]],
  ["src/check/lists", ["src/base", "src/contract"]],
  ["src/check/dns", ["src/base", "src/contract"]],
  ["src/check/verdict", ["src/base", "src/contract", "src/check/address", "src/check/lists"]],
  ["src/check/probes", ["src/base", "src/contract", "src/check/dns", "src/check/verdict"]],
  [
    "src/check/learned",
    [
      "src/base",
      "src/contract",
      "src/check/address",
      "src/check/lists",
      "src/check/dns",
      "src/check/probes",
      "src/check/verdict",
    ],
  ],
  ["src/check/refresh", ["src/base", "src/check/lists"]],
  ["src/check", ["src/base", "src/contract"]],
  ["src/customers/store", ["src/base"]],
  ["src/customers/notices", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/nodes", ["src/base", "src/customers/store"]],
  ["src/customers/quota", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/feedback", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/own-lists", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/usage", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/domain-facts", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/sightings", ["src/base", "src/contract", "src/customers/store"]],
  ["src/customers/terms", ["src/base", "src/contract", "src/customers/store", "src/customers/notices"]],
  ["src/customers/accounts", ["src/base", "src/contract", "src/customers/store", "src/customers/notices"]],
  [
    "src/customers/keys",
    ["src/base", "src/contract", "src/customers/store", "src/customers/notices", "src/customers/accounts"],
  ],
  [
    "src/customers/sign-in",
    [
      "src/base",
      "src/contract",
      "src/customers/store",
      "src/customers/notices",
      "src/customers/accounts",
      "src/customers/keys",
      "src/customers/terms",
    ],
  ],
  [
    "src/customers/free-checks",
    ["src/base", "src/contract", "src/customers/store", "src/customers/quota", "src/customers/sign-in"],
  ],
  ["src/workers", ["src/base"]],
  ["src/supply", ["src/base", "src/check/lists"]],
  ["src/doctor", ["src/base", "src/contract", "src/check", "src/customers"]],
  ["src/http", ["src/base", "src/contract", "src/check", "src/customers", "src/supply"]],
  ["src/cli", ["src/base", "src/contract", "src/check", "src/customers", "src/supply", "src/doctor"]],
  ["src", ["src"]],
]

const TOP = [
  "src/main.ts",
  "src/assemble.ts",
  "src/assemble-backup.ts",
  "src/assemble-customers.ts",
  "src/assemble-deep.ts",
  "src/assemble-doctor.ts",
  "src/assemble-doctor-database.ts",
  "src/assemble-leaks.ts",
  "src/assemble-learned.ts",
  "src/assemble-lists.ts",
  "src/assemble-mails.ts",
  "src/assemble-metrics.ts",
  "src/assemble-nodes.ts",
  "src/assemble-outside.ts",
  "src/assemble-sign-in.ts",
  "src/assemble-store.ts",
  "src/assemble-supply.ts",
  "src/build.ts",
  "src/hand-over.ts",
  "src/listening.ts",
  "src/metrics-listener.ts",
  "src/refreshing.ts",
  "src/supervisor.ts",
  "src/worker.ts",
  "src/world.ts",
]

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

test("settings are seen at the top only", () => {
  const seers = imports.filter(({ target }) => within(target, "src/config")).map(({ path }) => path)
  expect(seers.filter(path => !TOP.includes(path) && !within(path, "src/config"))).toEqual([])
})

test("imports name the file that defines the name, with its ending", () => {
  const vague = imports.filter(
    ({ specifier }) => specifier.startsWith(".") && !/\.(ts|tsx|json|txt|css)$/.test(specifier),
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
