import { expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { createSbom, sbomText } from "../../scripts/licences/sbom.ts"
import { loadInventory } from "../../src/assemble/licences.ts"
import { createSystem } from "../../src/system/system.ts"
import { Sbom } from "./sbom-schema.ts"

const inventory = await loadInventory(createSystem())
const bill = createSbom(inventory)
const text = sbomText(bill)

test("the bill of this program is a bill of CycloneDX 1.6, of what is in it and nothing else", () => {
  expect([...Value.Errors(Sbom, bill)]).toEqual([])
  const names = bill.components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
  expect(names).toContain("elysia")
  expect(names).toContain("altcha")
  expect(names).toContain("disposable-email-domains-js")
  expect(names).not.toContain("typescript")
  expect(names).not.toContain("csv-parse")
  expect(bill.components.filter(({ type }) => type === "data").map(({ name }) => name)).toContain("confusables.txt")
  expect(bill.components.find(({ type }) => type === "platform")?.version).toBe(Bun.version)
})

test("each component stands once, and what depends on what names components that are there", () => {
  const refs = [bill.metadata.component, ...bill.components].map(component => component["bom-ref"])
  expect(refs).toEqual([...new Set(refs)])
  expect(bill.dependencies.map(({ ref }) => ref).sort()).toEqual([...refs].sort())
  const known = new Set(refs)
  expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter(ref => !known.has(ref))).toEqual([])
})

test("everything in the bill is reached from the program", () => {
  const needs = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const reached = new Set([bill.metadata.component["bom-ref"]])
  for (const ref of reached) for (const needed of needs.get(ref) ?? []) reached.add(needed)
  expect(bill.components.map(component => component["bom-ref"]).filter(ref => !reached.has(ref))).toEqual([])
})

test("a package has its package URL, its licence, and the digest of its archive as the lock file has it", () => {
  expect(bill.components.find(({ name }) => name === "commander")).toMatchObject({
    type: "library",
    purl: "pkg:npm/commander@15.1.0",
    licenses: [{ license: { id: "MIT" } }],
    hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
  })
  expect(bill.components.find(({ group }) => group === "@modelcontextprotocol")?.purl).toBe(
    "pkg:npm/%40modelcontextprotocol/core@2.4.0",
  )
  expect(bill.components.find(({ name }) => name === "type-fest")?.licenses).toEqual([
    { expression: "(MIT OR CC0-1.0)" },
  ])
})

test("the same content is the same bill, and another content has another serial number", async () => {
  expect(sbomText(createSbom(await loadInventory(createSystem())))).toBe(text)
  expect(createSbom({ ...inventory, version: "9.9.9" }).serialNumber).not.toBe(bill.serialNumber)
})
