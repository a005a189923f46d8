import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../architecture/source-files.ts"
import { FAULTS, occurrencesOf } from "./faults.ts"

test("the text of each fault stands in its file once, and its tests are there", () => {
  const wrong = FAULTS.filter(
    row =>
      row.from === row.to ||
      occurrencesOf(readFileSync(join(ROOT, row.file), "utf8"), row) !== 1 ||
      !row.tests.every(path => existsSync(join(ROOT, path))),
  )
  expect(wrong).toEqual([])
})
