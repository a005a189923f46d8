import type { Command } from "commander"
import { escapeControls } from "../base/untrusted-text.ts"
import { type Inventory, packageId } from "../licences/inventory.ts"
import { type Output, printJson, printTable } from "./output.ts"

/** What this program consists of, as an inventory and as a bill of materials. */
export type LicenceCommandDeps = { readonly inventory: () => Promise<Inventory>; readonly sbom: () => Promise<string> }

/** Registers `licences` and `sbom`. */
export function registerLicenceCommands(root: Command, output: Output, { inventory, sbom }: LicenceCommandDeps): void {
  root
    .command("licences")
    .alias("licenses")
    .description("List the packages and data in this program, with their licences.")
    .option("--texts", "print every licence text", false)
    .option("--json", "print JSON", false)
    .action(async ({ texts, json: asJson }) => printLicences(output, await inventory(), texts, asJson))
  root
    .command("sbom")
    .description("Print the bill of materials of this program (CycloneDX 1.6, JSON).")
    .option("--json", "the output is always JSON", false)
    .action(async () => output.line((await sbom()).trimEnd()))
}

/** `licences`: packages, sources and the runtime with their licences; with `texts` also the licence texts, each once. */
export function printLicences(output: Output, inventory: Inventory, withTexts: boolean, asJson: boolean): void {
  const { name, version, licence, runtime, packages, sources, lists, allTexts, texts } = inventory
  const textsAt = (at: readonly number[]): { texts?: readonly string[] } =>
    withTexts ? { texts: at.map(each => allTexts[each] ?? "") } : {}
  if (asJson) {
    printJson(output, {
      ...{ name, version, licence, lists },
      ...textsAt(texts),
      runtime: { ...runtime, ...textsAt(runtime.texts) },
      packages: packages.map(each => ({ ...each, texts: undefined, ...textsAt(each.texts) })),
      sources: sources.map(each => ({ ...each, texts: undefined, ...textsAt(each.texts) })),
    })
    return
  }
  output.line(
    `${packageId(inventory)} has the licence ${licence} and runs on ${packageId(runtime)} (${runtime.licence}).`,
  )
  output.line("")
  printTable(output, [
    ["package", "licence", "part of"],
    ...packages.map(each => [escapeControls(packageId(each)), escapeControls(each.licence), each.use]),
  ])
  output.line("")
  printTable(output, [
    ["source", "licence", "origin"],
    ...sources.map(each => [escapeControls(each.id), escapeControls(each.licence), escapeControls(each.origin)]),
  ])
  if (withTexts) printTexts(output, inventory)
}

function printTexts(output: Output, inventory: Inventory): void {
  const parts = [
    { what: packageId(inventory), texts: inventory.texts },
    { what: packageId(inventory.runtime), texts: inventory.runtime.texts },
    ...inventory.packages.map(each => ({ what: packageId(each), texts: each.texts })),
    ...inventory.sources.map(each => ({ what: each.id, texts: each.texts })),
  ]
  for (const [at, text] of inventory.allTexts.entries()) {
    const whose = parts.filter(({ texts }) => texts.includes(at)).map(({ what }) => what)
    output.line("")
    output.line("-".repeat(80))
    output.line(whose.map(escapeControls).join(", "))
    output.line("")
    for (const line of text.split("\n")) output.line(escapeControls(line.replaceAll("\t", "    ").replaceAll("\f", "")))
  }
}
