import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expectSameVerdicts } from "../../bench/compare/verdicts.ts"
import { CHECKOUT } from "../../bench/servers/product.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const LIMIT_MS = 120_000
const [, MAIN] = CHECKOUT
const directory = mkdtempSync(join(tmpdir(), "mailkind-digest-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test(
  "the digest of the verdicts is the same on every run",
  async () => {
    expect(await expectSameVerdicts(MAIN, MAIN, 300)).toMatch(/^[0-9a-f]{64}$/)
  },
  LIMIT_MS,
)

test(
  "two trees that judge one input apart are told with it, and a tree that fails with what it said",
  async () => {
    const other = join(directory, "other.ts")
    await Bun.write(
      other,
      `const { stdout } = Bun.spawnSync([process.execPath, ${JSON.stringify(MAIN)}, ...process.argv.slice(2)])
       const lines = stdout.toString().split("\\n")
       if (process.argv.includes("strict")) lines[2] = lines[2].replace("recommendation", "Recommendation")
       process.stdout.write(lines.join("\\n"))`,
    )
    const found = await outcomeOf(expectSameVerdicts(MAIN, other, 90))
    expect(found).toThrow("judge 1 of 90 inputs apart, first of all under strict: ")
    const broken = join(directory, "broken.ts")
    await Bun.write(broken, `console.error("no lists here"); process.exit(3)`)
    expect(await outcomeOf(expectSameVerdicts(MAIN, broken, 3))).toThrow("no lists here")
  },
  LIMIT_MS,
)
