/**
 * `bun test/architecture/sizes.ts [CHECKOUT]` prints how large a checkout is: lines and files of code, the settings, and what
 * POST /v1/check loads. With another checkout two commits are compared.
 */

import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { textTable } from "../e2e/faults/seconds.ts"

const CODE = /\.(?:tsx?|js|css)$/

/** One line of the table. */
export type Size = { readonly what: string; readonly lines: number | null; readonly count: number }

/** The sizes of a checkout. What a package manager or a build has written does not count. */
export function sizesOf(root: string): readonly Size[] {
  const folders = ["src", "test", "bench"].map(folder => sizeOf(folder, codeFiles(join(root, folder))))
  const [settings = ""] = readFileSync(join(root, "src/config/settings.ts"), "utf8").split("export type SettingName")
  return [
    ...folders,
    sizeOf("what POST /v1/check loads", [...loadedBy(join(root, "src/http/v1/check.ts"))]),
    { what: "settings", lines: null, count: settings.match(/^ {2}MAILKIND_\w+:/gm)?.length ?? 0 },
  ]
}

const sizeOf = (what: string, files: readonly string[]): Size => ({
  what,
  lines: files.reduce((sum, file) => sum + linesOf(file), 0),
  count: files.length,
})

const linesOf = (file: string): number => readFileSync(file, "utf8").split("\n").length - 1

function codeFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(name => CODE.test(name) && name !== "client/api-types.ts")
    .map(name => join(folder, name))
    .filter(path => statSync(path).isFile())
}

/** A file and all that it imports as values, by whatever way. */
function loadedBy(start: string): ReadonlySet<string> {
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    const transpiler = new Bun.Transpiler({ loader: file.endsWith("x") ? "tsx" : "ts" })
    for (const { path, kind } of transpiler.scanImports(readFileSync(file, "utf8")))
      if (kind === "import-statement" && path.startsWith(".") && CODE.test(path)) load(join(dirname(file), path))
  }
  load(start)
  return loaded
}

if (import.meta.main) {
  const sizes = sizesOf(process.argv[2] ?? join(import.meta.dir, "../.."))
  console.log(
    textTable([
      ["", "lines", "files"],
      ...sizes.map(({ what, lines, count }) => [what, String(lines ?? ""), String(count)]),
    ]),
  )
}
