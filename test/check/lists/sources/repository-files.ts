import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { SourceFiles } from "../../../../src/check/lists/sources/source-formats.ts"

const ROOT = join(import.meta.dir, "../../../..")

/** Read access to the files of this repository: curated files and installed packages. */
export const repositoryFiles: SourceFiles = {
  read: path => readFileSync(join(ROOT, path), "utf8"),
  list: folder =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => relative(join(ROOT, folder), join(entry.parentPath, entry.name))),
}
