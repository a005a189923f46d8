import { Value } from "@sinclair/typebox/value"
import { assert } from "../base/errors.ts"
import { SETTINGS, type Settings } from "../config/settings.ts"
import { tierLimits } from "../customers/quota/tier-limits.ts"
import { DIAGNOSTICS } from "../doctor/diagnostics.ts"
import type { GuideFacts } from "../http/site/docs/guide-facts.ts"
import { Inventory } from "../licences/inventory.ts"
import { scanInventory } from "../licences/inventory-scan.ts"
import { LicenceError } from "../licences/licence-policy.ts"
import type { BundledFileName } from "../system/files.ts"
import type { System } from "../system/system.ts"

/**
 * What this program is made of: in the executable what its build found, in a checkout what is found now. Rejects with
 * `LicenceError` where a checkout breaks the policy.
 */
export async function loadInventory({ files, checkout }: Pick<System, "files" | "checkout">): Promise<Inventory> {
  if (checkout !== null) {
    const taken = scanInventory(checkout)
    if (taken.kind === "refused") throw new LicenceError(taken.faults)
    return taken.inventory
  }
  const carried = files.bundled("inventory.json.asset")
  assert(carried !== null, "the executable carries its inventory")
  return Value.Decode(Inventory, await carried.json())
}

/** Every setting as it is told to people: its default, never what it is set to. */
export const DOCUMENTED_SETTINGS: GuideFacts["settings"] = Object.entries(SETTINGS).map(
  ([name, { defaultText, description, isEffective }]) => ({
    name,
    default: defaultText,
    says: isEffective ? description : `${description} Accepted; this version does not act on it yet.`,
  }),
)

/** What the guide tells of a server with these settings. */
export const guideFacts = (system: Pick<System, "files" | "checkout">, settings: Settings): GuideFacts => ({
  checkTimeoutMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
  tiers: tierLimits(settings.MAILKIND_TIERS),
  settings: DOCUMENTED_SETTINGS,
  examinations: Object.entries(DIAGNOSTICS).map(([name, { description }]) => ({ name, description })),
  deployFiles: async () => ({
    unit: await bundledText(system, "mailkind.service.asset"),
    environment: await bundledText(system, "mailkind.env.asset"),
    dockerfile: await bundledText(system, "Dockerfile.asset"),
  }),
  inventory: () => loadInventory(system),
})

async function bundledText({ files }: Pick<System, "files">, name: BundledFileName): Promise<string> {
  const file = files.bundled(name)
  assert(file !== null, "the executable carries what it shows")
  return await file.text()
}
