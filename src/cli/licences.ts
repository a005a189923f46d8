import type { Command } from "commander"
import { billOf, billText } from "../supply/bill.ts"
import { type Inventory, nameAndVersion } from "../supply/inventory.ts"
import { json, type Output, shown, table } from "./output.ts"

/** Registers the commands that tell what this program is made of. */
export function licenceCommands(root: Command, output: Output, inventory: () => Promise<Inventory>): void {
  root
    .command("licences")
    .alias("licenses")
    .description("Tell what this program is made of, and under which licences.")
    .option("--texts", "show every licence whole", false)
    .option("--json", "answer in JSON", false)
    .action(async ({ texts, json: asJson }) => licences(output, await inventory(), texts, asJson))
  root
    .command("sbom")
    .description("Print the bill of materials of this program (CycloneDX 1.6, JSON).")
    .option("--json", "the answer is JSON anyway", false)
    .action(async () => output.line(billText(billOf(await inventory())).trimEnd()))
}

/** `licences`: each package, source and the runtime with its licence; with `texts` the texts too, each once. */
export function licences(output: Output, inventory: Inventory, withTexts: boolean, asJson: boolean): void {
  const { name, version, licence, runtime, packages, sources, lists, allTexts, texts } = inventory
  const textsAt = (at: readonly number[]): { texts?: readonly string[] } =>
    withTexts ? { texts: at.map(each => allTexts[each] ?? "") } : {}
  if (asJson) {
    json(output, {
      ...{ name, version, licence, lists },
      ...textsAt(texts),
      runtime: { ...runtime, ...textsAt(runtime.texts) },
      packages: packages.map(each => ({ ...each, texts: undefined, ...textsAt(each.texts) })),
      sources: sources.map(each => ({ ...each, texts: undefined, ...textsAt(each.texts) })),
    })
    return
  }
  output.line(
    `${nameAndVersion(inventory)} is under ${licence}; it runs on ${nameAndVersion(runtime)} (${runtime.licence}).`,
  )
  output.line("")
  table(output, [
    ["package", "licence", "part of"],
    ...packages.map(each => [shown(nameAndVersion(each)), shown(each.licence), each.use]),
  ])
  output.line("")
  table(output, [
    ["source", "licence", "origin"],
    ...sources.map(each => [shown(each.id), shown(each.licence), shown(each.origin)]),
  ])
  if (withTexts) showTexts(output, inventory)
}

function showTexts(output: Output, inventory: Inventory): void {
  const parts = [
    { what: nameAndVersion(inventory), texts: inventory.texts },
    { what: nameAndVersion(inventory.runtime), texts: inventory.runtime.texts },
    ...inventory.packages.map(each => ({ what: nameAndVersion(each), texts: each.texts })),
    ...inventory.sources.map(each => ({ what: each.id, texts: each.texts })),
  ]
  for (const [at, text] of inventory.allTexts.entries()) {
    const whose = parts.filter(({ texts }) => texts.includes(at)).map(({ what }) => what)
    output.line("")
    output.line("-".repeat(80))
    output.line(whose.map(shown).join(", "))
    output.line("")
    for (const line of text.split("\n")) output.line(shown(line.replaceAll("\t", "    ").replaceAll("\f", "")))
  }
}
