import { sha256Hex } from "../../base/fingerprint.ts"

/** The settings that all nodes of a database must have the same. The folder with the lists of jobs has a mark of its own. */
export const EQUAL_SETTINGS = [
  "MAILKIND_BASE_URL",
  "MAILKIND_TIERS",
  "MAILKIND_DEFAULT_TIER",
  "MAILKIND_FREE_CHECKS_PER_DAY",
  "MAILKIND_SMTP_URL",
  "MAILKIND_MAIL_FROM",
  "MAILKIND_ADMINS",
  "MAILKIND_TEST_DOMAIN",
  "MAILKIND_LISTS_SOURCES",
  "MAILKIND_TRUSTED_PROXIES",
] as const

/** Their values. */
export type EqualSettings = { readonly [Name in (typeof EQUAL_SETTINGS)[number]]: unknown }

/** How many hexadecimal digits a digest has: enough to tell two values apart, and too few to tell one that was guessed, such as a password. */
const DIGEST_DIGITS = 4

const digestOf = (value: unknown): string => sha256Hex(JSON.stringify(plainValue(value))).slice(0, DIGEST_DIGITS)

/** A digest of each value: `name=digest` with spaces between. */
export const digestSettings = (settings: EqualSettings): string =>
  EQUAL_SETTINGS.map(name => `${name}=${digestOf(settings[name])}`).join(" ")

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
  own: EqualSettings,
  nodes: readonly NodeSettingsRow[],
): { readonly where: string; readonly names: readonly string[] } | null {
  const digests = digestSettings(own)
  const ours = digestsByName(digests)
  for (const { id, url, settings } of nodes) {
    if (typeof settings !== "string" || settings === digests) continue
    const theirs = digestsByName(settings)
    const names = EQUAL_SETTINGS.filter(name => theirs.has(name) && theirs.get(name) !== ours.get(name))
    if (names.length > 0) return { where: url ?? id, names }
  }
  return null
}

const digestsByName = (digests: string): ReadonlyMap<string, string> =>
  new Map(digests.split(" ").map(text => [text.slice(0, text.indexOf("=")), text]))

/** What to do about settings that differ. */
export const EQUAL_SETTINGS_REMEDY =
  "Give all nodes the same value, and restart those that had another. While you change it node by node, do nothing."
