import type { Format } from "./catalogue.ts"
import type { Entries, Shelf } from "./entries.ts"
import { readColumn } from "./read-csv.ts"
import { readCurated } from "./read-curated.ts"
import { readJson } from "./read-json.ts"
import { readLines } from "./read-lines.ts"
import { readScriptJson, readScriptText, readScriptWords } from "./read-script.ts"
import { readTree } from "./read-tree.ts"

/** Reads what stands at `path`; `at` is the catalogue's. It throws only what the shelf throws. */
type Reader = (shelf: Shelf, path: string, at: string) => Entries

/** The reader of each format. All of them read text; nothing of a package is run. */
export const READERS: { readonly [F in Format]: Reader } = {
  curated: (shelf, path) => readCurated(shelf.read(path)),
  lines: (shelf, path) => readLines(shelf.read(path)),
  json: (shelf, path, at) => readJson(shelf.read(path), at),
  script_json: (shelf, path, at) => readScriptJson(shelf.read(path), at),
  script_text: (shelf, path, at) => readScriptText(shelf.read(path), at),
  script_words: (shelf, path) => readScriptWords(shelf.read(path)),
  csv: (shelf, path, at) => readColumn(shelf.read(path), at),
  tree: (shelf, path) => readTree(shelf.list(path)),
}
