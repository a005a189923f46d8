import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The checkout's root. */
export const ROOT = join(import.meta.dir, "../..")

/** One source file: its path from the root and its text. */
export type SourceFile = { readonly path: string; readonly text: string }

/** Every TypeScript file under a folder of the checkout. */
export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter(name => /\.tsx?$/.test(name))
    .sort()
    .map(name => ({ path: `${folder}/${name}`, text: readFileSync(join(ROOT, folder, name), "utf8") }))
}

/** The text without comments and without what stands in quotes, so that a word is code where it is found. */
export const codeOf = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|[^:])\/\/.*$/gm, "$1")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
