import { join } from "node:path"
import { BUNDLED_FILES } from "../../src/system/files.ts"
import { createSystem } from "../../src/system/system.ts"
import { scanInventory } from "./inventory-scan.ts"
import { createSbom, sbomText } from "./sbom.ts"

/** Writes the inventory of a checkout and its bill of materials, which `licences`, `sbom` and the page of licences show. Returns why it may not. */
export async function buildLicences(): Promise<readonly string[]> {
  const { checkout, files } = createSystem()
  if (checkout === null) return ["Run this in a checkout."]
  const scan = scanInventory(checkout)
  if (scan.kind === "refused") return scan.faults
  await files.writeAtomic(join(files.root, BUNDLED_FILES["inventory.json.asset"]), JSON.stringify(scan.inventory))
  await files.writeAtomic(join(files.root, BUNDLED_FILES["sbom.json.asset"]), sbomText(createSbom(scan.inventory)))
  return []
}

if (import.meta.main) {
  const faults = await buildLicences()
  for (const fault of faults.length === 0 ? [] : ["This checkout cannot be passed on:", ...faults]) console.error(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
