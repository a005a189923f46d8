import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { COMPARISONS } from "../../bench/compare/trees.ts"
import { ROOT } from "../architecture/source-files.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const LIMIT_MS = 120_000
const sizes = { rounds: 2, connections: 4, roundS: 0.2, warmupS: 0.1, signal: new AbortController().signal }
const directory = mkdtempSync(join(tmpdir(), "mailkind-trees-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A tree whose check bench finds these figures, and exits with this code. */
async function treeWith(name: string, figures: Readonly<Record<string, number>>, exitCode: number) {
  const facts = {
    reports: [
      { figures: Object.entries(figures).map(([figure, value]) => ({ name: figure, value, unit: "µs/item" })) },
    ],
  }
  const program = `console.log(${JSON.stringify(JSON.stringify(facts))}); process.exitCode = ${exitCode}`
  await Bun.write(join(directory, name, "bench/main.ts"), program)
  return { path: join(directory, name) }
}

test(
  "two trees are loaded over HTTP in fresh servers, and the same tree answers alike",
  async () => {
    const tree = { path: ROOT }
    const { description, measured } = await COMPARISONS.http.run({ ...sizes, ours: tree, theirs: tree })
    expect(description.join()).not.toContain("not answer alike")
    expect(measured.map(({ name, better }) => [name, better])).toEqual([
      ["server CPU", "less"],
      ["throughput", "more"],
      ["p99", "less"],
    ])
    for (const { ours, theirs } of measured) expect([ours.length, theirs.length]).toEqual([2, 2])
    for (const value of measured.flatMap(({ ours, theirs }) => [...ours, ...theirs])) expect(value).toBeGreaterThan(0)
  },
  LIMIT_MS,
)

test(
  "processor times of a bench are compared where both trees have them, budgets crossed or not",
  async () => {
    const ours = await treeWith("ours", { hit: 2, url: 3 }, 1)
    const theirs = await treeWith("theirs", { hit: 1, typo: 5 }, 0)
    const { measured } = await COMPARISONS.check.run({ ...sizes, ours, theirs })
    expect(measured).toEqual([
      { name: "hit", unit: "µs/item", better: "less", isCost: true, ours: [2, 2], theirs: [1, 1] },
    ])
  },
  LIMIT_MS,
)

test("a tree whose bench fails ends the comparison, and so does an interruption", async () => {
  const ours = await treeWith("whole", { hit: 1 }, 0)
  const broken = await treeWith("broken", {}, 2)
  expect(await outcomeOf(COMPARISONS.check.run({ ...sizes, ours, theirs: broken }))).toThrow("broken failed")
  const signal = AbortSignal.abort()
  expect(await outcomeOf(COMPARISONS.check.run({ ...sizes, ours, theirs: ours, signal }))).toThrow("abort")
  expect(await outcomeOf(COMPARISONS.http.run({ ...sizes, ours, theirs: ours, signal }))).toThrow("abort")
})

test.each([
  [[]],
  [["HEAD", "HEAD"]],
  [["HEAD", "--rounds", "1"]],
  [["HEAD", "--connections", "0"]],
  [["HEAD", "--duration", "61"]],
  [["HEAD", "--bench", "toString"]],
  [["HEAD", "--unheard-of"]],
])("bench:compare %j is a wrong use", args => {
  const { exitCode, stderr, stdout } = Bun.spawnSync([process.execPath, join(ROOT, "bench/compare/main.ts"), ...args])
  expect([exitCode, stdout.toString()]).toEqual([2, ""])
  expect(stderr.toString()).toContain("bun run bench:compare REF")
})
