import { expect, test } from "bun:test"
import { scanInventory } from "../../scripts/licences/inventory-scan.ts"
import { printLicences } from "../../src/cli/licences.ts"
import { smallCheckout } from "../licences/small-checkout.ts"

function facts(withTexts: boolean, asJson: boolean): string {
  const taken = scanInventory(smallCheckout({ "node_modules/a/NOTICE.txt": "A's\tnotice \u001b[2J" }))
  if (taken.kind === "refused") throw new Error(taken.faults.join("\n"))
  const lines: string[] = []
  const output = { line: (text: string) => void lines.push(text), stderrLine: () => undefined }
  printLicences(output, taken.inventory, withTexts, asJson)
  return lines.join("\n")
}

test("`licences` names every package, source and the runtime with its licence", () => {
  const text = facts(false, false)
  expect(text).toContain("mailkind@3.0.0 has the licence MIT and runs on bun@9.9.9 (MIT AND LGPL")
  expect(text).toMatch(/^c@1\.0\.0 +\(GPL-3\.0-only OR ISC\) +server$/m)
  expect(text).toMatch(/^listed +CC0-1\.0 +https:\/\/lists\.example\/x$/m)
  expect(text).not.toContain("A's licence")
})

test("with --texts it shows each licence once with all that are under it, and sends a terminal nothing to obey", () => {
  const text = facts(true, false)
  expect(text.match(/^A's licence$/gm)).toHaveLength(1)
  expect(text).toContain("a@1.0.0, b@1.0.0")
  expect(text).toContain("Our own licence")
  expect(text).toContain("A's    notice \\u001b[2J")
})

test("--json tells the same, with the texts where they are asked for", () => {
  const named = (wanted: string, withTexts: boolean) =>
    JSON.parse(facts(withTexts, true)).packages.find(({ name }: { name: string }) => name === wanted)
  expect(named("a", false)).toMatchObject({ licence: "MIT", use: "server" })
  expect(named("a", false)).not.toHaveProperty("texts")
  expect(named("b", true).texts).toEqual(["A's licence"])
})
