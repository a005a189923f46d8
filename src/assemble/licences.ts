import { Value } from "@sinclair/typebox/value"
import { assert, StartupError } from "../base/errors.ts"
import { unpackedBytes } from "../base/gzip.ts"
import { derived } from "../base/lazy.ts"
import { parseJson } from "../base/text.ts"
import { SETTINGS } from "../config/settings.ts"
import { tierLimits } from "../customers/quota/tier-limits.ts"
import { DIAGNOSTICS } from "../doctor/diagnostics.ts"
import { CHECKOUT_COMMAND } from "../http/site/docs/command-lines.ts"
import type { GuideFacts } from "../http/site/docs/guide-facts.ts"
import { Inventory } from "../licences/inventory.ts"
import { BUNDLED_FILES, type BundledFileName } from "../system/files.ts"
import type { System } from "../system/system.ts"
import type { AppContext } from "./context.ts"

/** The inventory of this program. Rejects with `StartupError` in a checkout where it is not built. */
export async function loadInventory(system: Pick<System, "files">): Promise<Inventory> {
  return Value.Decode(Inventory, parseJson(await builtText(system, "inventory.json.asset")))
}

/** The bill of materials of this program, in the same way. */
export const loadSbom = (system: Pick<System, "files">): Promise<string> => builtText(system, "sbom.json.asset")

async function builtText({ files }: Pick<System, "files">, name: BundledFileName): Promise<string> {
  const file = files.bundled(name)
  if (file === null) throw new StartupError(`${BUNDLED_FILES[name]} is missing. Run \`bun run build:licences\`.`)
  return new TextDecoder().decode(await unpackedBytes(file))
}

/** Every setting with its default, for documentation. Never its current value. */
export const DOCUMENTED_SETTINGS: GuideFacts["settings"] = Object.entries(SETTINGS).map(
  ([name, { defaultText, description, isReloaded, isAdvanced }]) => ({
    name,
    default: defaultText,
    advanced: isAdvanced,
    says: isReloaded ? `${description} A running server takes it on SIGHUP.` : description,
  }),
)

/** The facts in the guide that depend on the program and its settings. */
export const guideFacts = ({ system, settings }: AppContext): GuideFacts => ({
  command: system.files.isCompiled ? "mailkind" : CHECKOUT_COMMAND,
  checkTimeoutMs: settings.MAILKIND_CHECK_TIMEOUT_MS,
  tiers: derived(() => settings.MAILKIND_TIERS, tierLimits),
  settings: DOCUMENTED_SETTINGS,
  examinations: Object.entries(DIAGNOSTICS).map(([name, { description }]) => ({ name, description })),
  deployFiles: async () => ({
    unit: await bundledText(system, "mailkind.service.asset"),
    environment: await bundledText(system, "mailkind.env.asset"),
    dockerfile: await bundledText(system, "Dockerfile.asset"),
    nginx: await bundledText(system, "nginx.conf.asset"),
    caddy: await bundledText(system, "Caddyfile.asset"),
    haproxy: await bundledText(system, "haproxy.cfg.asset"),
    pgbouncer: await bundledText(system, "pgbouncer.ini.asset"),
    alerts: await bundledText(system, "prometheus-alerts.yml.asset"),
  }),
  inventory: () => loadInventory(system),
})

async function bundledText({ files }: Pick<System, "files">, name: BundledFileName): Promise<string> {
  const file = files.bundled(name)
  assert(file !== null, "the executable contains the files that the guide shows")
  return await file.text()
}
