import { utf8Text } from "../../base/utf8.ts"
import { LIMITS } from "../../contract/limits.ts"
import { keyHash } from "../../customers/keys/key-form.ts"
import type { Leak } from "../../customers/keys/leaks.ts"
import { invalidInput } from "../problem.ts"

/** One text that was found in public, and what the reporter takes it for. */
export type LeakItem = { readonly token: string; readonly type: string }

/** A report, read. `unreadable` counts what is no item with a text: there is nothing in it to revoke or to label. */
export type LeakReport = { readonly items: readonly LeakItem[]; readonly unreadable: number }

/** What the reporter is told of one item: the token by its SHA-256, so that no answer holds a key. */
export type LeakLabel = {
  /** In hex. */
  readonly token_hash: string
  readonly token_type: string
  readonly label: "true_positive" | "false_positive"
}

/**
 * Reads the octets of a signed report. Throws `invalid_input` for what is no JSON array, and for one with too many items. The
 * media type is not asked for: the signature says that this is a report, and a leaked key is not kept for a header.
 */
export function readLeakReport(body: Uint8Array): LeakReport {
  const sent = parsed(body)
  if (!Array.isArray(sent)) throw invalidInput([{ pointer: "", detail: "A report must be a JSON array." }])
  if (sent.length > LIMITS.leakReportItemsMax)
    throw invalidInput([{ pointer: "", detail: `A report has at most ${LIMITS.leakReportItemsMax} items.` }])
  const items = sent.flatMap((entry: unknown) => itemOf(entry) ?? [])
  return { items, unreadable: sent.length - items.length }
}

/** The label of an item. A key that had been revoked before was a real one all the same. */
export function leakLabel({ token, type }: LeakItem, leak: Leak): LeakLabel {
  const label = leak.kind === "revoked" ? "true_positive" : "false_positive"
  return { token_hash: keyHash(token), token_type: type, label }
}

function itemOf(entry: unknown): LeakItem | null {
  if (typeof entry !== "object" || entry === null || !("token" in entry) || typeof entry.token !== "string") return null
  return { token: entry.token, type: "type" in entry && typeof entry.type === "string" ? entry.type : "" }
}

function parsed(body: Uint8Array): unknown {
  try {
    // What is no UTF-8 is no JSON: the empty text is none either.
    return JSON.parse(utf8Text(body) ?? "")
  } catch (notJson) {
    // A SyntaxError, or a RangeError where it is nested past the parser's stack.
    if (notJson instanceof Error) throw invalidInput([{ pointer: "", detail: "The body is not JSON." }])
    throw notJson
  }
}
