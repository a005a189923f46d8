import { expect, test } from "bun:test"
import { join } from "node:path"
import { apiTypesText } from "../../../src/client/packing/api-types-text.ts"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { API_PROBLEM_CODES } from "../../../src/contract/problems.ts"

const ROOT = join(import.meta.dir, "../../..")
const FILE = join(ROOT, "src/client/api-types.ts")

test("the types of the client are those of the contract's tables", async () => {
  const biome = join(ROOT, "node_modules/.bin/biome")
  const formatted = Bun.spawnSync([biome, "format", "--stdin-file-path=src/client/api-types.ts"], {
    cwd: ROOT,
    stdin: Buffer.from(apiTypesText()),
  }).stdout.toString()
  if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(FILE, formatted)
  expect(await Bun.file(FILE).text()).toBe(formatted)
  for (const name of [...CATEGORY_NAMES, ...API_PROBLEM_CODES]) expect(formatted).toContain(`"${name}"`)
  // An answer of a later version is of the same type.
  expect(formatted).toContain("category: Category | (string & {})")
})
