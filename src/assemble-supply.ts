import { Value } from "@sinclair/typebox/value"
import { assert } from "./base/assert.ts"
import { SETTINGS, type Settings } from "./config/settings.ts"
import { tierLimits } from "./customers/quota/tier-limits.ts"
import { EXAMINATIONS } from "./doctor/examinations.ts"
import type { GuideFacts } from "./http/site/docs/guide-routes.tsx"
import { Inventory } from "./supply/inventory.ts"
import { NotToBePassedOn } from "./supply/not-to-be-passed-on.ts"
import { takeInventory } from "./supply/take-inventory.ts"
import type { OwnFile, World } from "./world.ts"

/**
 * What this program is made of: in the executable what its build found, in a checkout what is found now. Rejects with
 * `NotToBePassedOn` where a checkout breaks the policy.
 */
export async function inventoryOf({ files, checkout }: Pick<World, "files" | "checkout">): Promise<Inventory> {
  if (checkout !== null) {
    const taken = takeInventory(checkout)
    if (taken.kind === "refused") throw new NotToBePassedOn(taken.faults)
    return taken.inventory
  }
  const carried = files.own("inventory.json.asset")
  assert(carried !== null, "the executable carries its inventory")
  return Value.Decode(Inventory, await carried.json())
}

/** Every setting as it is told to people: its default, never what it is set to. */
export const SHOWN_SETTINGS: GuideFacts["settings"] = Object.entries(SETTINGS).map(([name, { shown, says, acts }]) => ({
  name,
  default: shown,
  says: acts ? says : `${says} Accepted; this version does not act on it yet.`,
}))

/** What the guide tells of a server with these settings. */
export const guideFacts = (world: Pick<World, "files" | "checkout">, settings: Settings): GuideFacts => ({
  checkTimeoutMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
  tiers: tierLimits(settings.MAILKIND_TIERS),
  settings: SHOWN_SETTINGS,
  examinations: Object.entries(EXAMINATIONS).map(([name, { says }]) => ({ name, says })),
  deployFiles: async () => ({
    unit: await carriedText(world, "mailkind.service.asset"),
    environment: await carriedText(world, "mailkind.env.asset"),
    dockerfile: await carriedText(world, "Dockerfile.asset"),
  }),
  inventory: () => inventoryOf(world),
})

async function carriedText({ files }: Pick<World, "files">, name: OwnFile): Promise<string> {
  const file = files.own(name)
  assert(file !== null, "the executable carries what it shows")
  return await file.text()
}
