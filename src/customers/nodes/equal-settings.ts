import { sha256Hex } from "../../base/fingerprint.ts"

/** The settings that each node has for itself. All others must be the same on all nodes of a database, also those that are added later. */
export const NODE_SETTINGS = [
  "MAILKIND_CONFIG",
  "MAILKIND_HOST",
  "MAILKIND_PORT",
  "MAILKIND_WORKERS",
  "MAILKIND_DATA_DIR",
  "MAILKIND_DATABASE_URL",
  "MAILKIND_DATABASE_LISTEN_URL",
  "MAILKIND_DATABASE_WAIT_S",
  "MAILKIND_NODE_URL",
  "MAILKIND_SLOW_MS",
  "MAILKIND_STOP_DELAY_MS",
  "MAILKIND_BACKUP_DIR",
  "MAILKIND_BACKUP_HOURS",
  "MAILKIND_DNS_SERVERS",
  "MAILKIND_DNS_TIMEOUT_MS",
  "MAILKIND_DNS_CANARIES",
  "MAILKIND_CHECK_TIMEOUT_MS",
  "MAILKIND_LISTS_REFRESH_HOURS",
  "MAILKIND_LISTS_DELAY_HOURS",
  "MAILKIND_FIRST_KEY",
  "MAILKIND_JOBS_DIR", // The folder has a mark of its own.
  "MAILKIND_CACHE_BYTES_MAX",
  "MAILKIND_LOG",
  "MAILKIND_METRICS",
] as const

/** All settings of a process, of which those that must be the same are compared. */
export type ComparedSettings = object

/** How many hexadecimal digits a digest has: enough to tell two values apart, and too few to tell one that was guessed, such as a password. */
const DIGEST_DIGITS = 4

const digestOf = (value: unknown): string => sha256Hex(JSON.stringify(plainValue(value))).slice(0, DIGEST_DIGITS)

/** A digest of each value: `name=digest` with spaces between. */
export const digestSettings = (settings: ComparedSettings): string =>
  Object.entries(settings)
    .filter(([name]) => !isOfNode.has(name))
    .map(([name, value]) => `${name}=${digestOf(value)}`)
    .join(" ")

const isOfNode: ReadonlySet<string> = new Set(NODE_SETTINGS)

/** A value with its secret, and with members in an order of their own. */
function plainValue(value: unknown): unknown {
  if (value instanceof Map || Array.isArray(value)) return [...value].map(each => JSON.stringify(each)).sort()
  if (typeof value !== "object" || value === null || !("reveal" in value)) return value ?? null
  return typeof value.reveal === "function" ? value.reveal() : null
}

/** What tells of a node: its base address, if it tells one, and the digests of its settings, which those of an older version do not have. */
export type NodeSettingsRow = {
  readonly id: string
  readonly url?: string | null | undefined
  readonly settings?: string | null | undefined
}

/** The first of these nodes with other settings, and their names; null: there is none. A name that one of both does not know is no difference. */
export function differingNode(
  own: ComparedSettings,
  nodes: readonly NodeSettingsRow[],
): { readonly where: string; readonly names: readonly string[] } | null {
  const digests = digestSettings(own)
  const ours = digestsByName(digests)
  for (const { id, url, settings } of nodes) {
    if (typeof settings !== "string" || settings === digests) continue
    const theirs = digestsByName(settings)
    const names = [...ours.keys()].filter(name => theirs.has(name) && theirs.get(name) !== ours.get(name))
    if (names.length > 0) return { where: url ?? id, names }
  }
  return null
}

const digestsByName = (digests: string): ReadonlyMap<string, string> =>
  new Map(digests.split(" ").map(text => [text.slice(0, text.indexOf("=")), text]))

/** What to do about settings that differ. */
export const EQUAL_SETTINGS_REMEDY =
  "Give all nodes the same value, and restart those that had another. While you change it node by node, do nothing."
