import { redactAddresses } from "../../base/address-redaction.ts"
import { LIMITS } from "../../contract/limits.ts"

/** Stands for what is left out of a masked address. */
const MASK = "…"

/** A local part of fewer characters shows its first one only, and a single one is left out. */
const BOTH_ENDS_LENGTH_MIN = 4

/** The masked form of an address: `j…e@acme.com`. Of a short local part less is shown, so that nobody can guess it. */
export function maskAddress(normalized: string, domain: string): string {
  const local = [...normalized.slice(0, -(domain.length + 1))]
  const first = local.length > 1 ? (local[0] ?? "") : ""
  const last = local.length >= BOTH_ENDS_LENGTH_MIN ? (local.at(-1) ?? "") : ""
  return `${first}${MASK}${last}@${domain}`
}

/** Whether a text is the masked form of an address at the domain, which `maskAddress` could have made. */
export function isShownAs(text: string, domain: string): boolean {
  const local = text.endsWith(`@${domain}`) ? text.slice(0, -(domain.length + 1)) : ""
  return /^[^\p{C}\s]?…[^\p{C}\s]?$/u.test(local)
}

/**
 * A note in the form that is stored: on one line, without control characters and without what may be an address. Null when nothing is
 * left. The caller refuses a note that is too long.
 */
export const normalizeNote = (text: string): string | null => redactAddresses(text, LIMITS.ownListNoteLengthMax)
