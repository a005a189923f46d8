import { createPublicKey, type KeyObject } from "node:crypto"

/** The public keys of one document, by their identifiers. */
export type ReporterKeySet = ReadonlyMap<string, KeyObject>

/** How many keys of a document are read. The real one has a few: those in use, and those that were until lately. */
const KEYS_MAX = 100

/**
 * The ECDSA keys on P-256 that a document `{"public_keys":[{"key_identifier","key","is_current"}]}` publishes; null when
 * there is none in it. A key that is published and no longer current verifies what was signed before the change of keys. One
 * of another kind or curve, or that cannot be read, is left out.
 */
export function readKeySet(text: string): ReporterKeySet | null {
  const keys = new Map<string, KeyObject>()
  for (const entry of entriesOf(text).slice(0, KEYS_MAX)) {
    const { key_identifier: identifier, key } = membersOf(entry)
    const read = typeof key === "string" ? publicKey(key) : null
    if (typeof identifier === "string" && identifier !== "" && read !== null) keys.set(identifier, read)
  }
  return keys.size === 0 ? null : keys
}

function entriesOf(text: string): readonly unknown[] {
  try {
    const { public_keys: entries } = membersOf(JSON.parse(text))
    return Array.isArray(entries) ? entries : []
  } catch (notJson) {
    // A SyntaxError, or a RangeError where it is nested past the parser's stack.
    if (notJson instanceof Error) return []
    throw notJson
  }
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

function publicKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === P_256 ? key : null
  } catch (unreadable) {
    if (unreadable instanceof Error) return null
    throw unreadable
  }
}

/** P-256 by its name in ANSI X9.62. */
const P_256 = "prime256v1"
