import { type KeyObject, verify } from "node:crypto"
import { decodeUtf8 } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import { hashKey } from "../../customers/keys/key-format.ts"
import type { LeakedKeyRevocation } from "../../customers/keys/keys.ts"
import { invalidInput } from "../response/problem.ts"

/** One text that was found in public, and what the reporter takes it for. */
export type LeakItem = { readonly token: string; readonly type: string }

/** A report, read. `unreadable` counts what is no item with a text: there is nothing in it to revoke or to label. */
export type LeakReport = { readonly items: readonly LeakItem[]; readonly unreadableCount: number }

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
export function parseLeakReport(body: Uint8Array): LeakReport {
  const sent = parseReportJson(body)
  if (!Array.isArray(sent)) throw invalidInput([{ pointer: "", detail: "A report must be a JSON array." }])
  if (sent.length > LIMITS.leakReportItemsMax)
    throw invalidInput([{ pointer: "", detail: `A report has at most ${LIMITS.leakReportItemsMax} items.` }])
  const items = sent.flatMap((entry: unknown) => parseItem(entry) ?? [])
  return { items, unreadableCount: sent.length - items.length }
}

/** The label of an item. A key that had been revoked before was a real one all the same. */
export function leakLabel({ token, type }: LeakItem, leak: LeakedKeyRevocation): LeakLabel {
  const label = leak.kind === "revoked" ? "true_positive" : "false_positive"
  return { token_hash: hashKey(token), token_type: type, label }
}

function parseItem(entry: unknown): LeakItem | null {
  if (typeof entry !== "object" || entry === null || !("token" in entry) || typeof entry.token !== "string") return null
  return { token: entry.token, type: "type" in entry && typeof entry.type === "string" ? entry.type : "" }
}

function parseReportJson(body: Uint8Array): unknown {
  try {
    // What is no UTF-8 is no JSON: the empty text is none either.
    return JSON.parse(decodeUtf8(body) ?? "")
  } catch (notJson) {
    // A SyntaxError, or a RangeError where it is nested past the parser's stack.
    if (notJson instanceof Error) throw invalidInput([{ pointer: "", detail: "The body is not JSON." }])
    throw notJson
  }
}

/** How a report says that it is the reporter's. */
export type ReportSignature = { readonly identifier: string; readonly der: Uint8Array }

/** Base64 with its padding (RFC 4648 §4); a DER signature on P-256 has at most 72 octets. */
const SIGNATURE_PATTERN = /^(?=.{1,96}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The signature of a report by its headers; null when one of the two is missing or no such header. */
export function signatureFromHeaders(headers: Headers): ReportSignature | null {
  const identifier = headers.get("github-public-key-identifier") ?? ""
  const signature = headers.get("github-public-key-signature") ?? ""
  if (identifier === "" || !SIGNATURE_PATTERN.test(signature)) return null
  return { identifier, der: Buffer.from(signature, "base64") }
}

/** Whether the octets were signed by the key's owner: ECDSA with SHA-256, the signature in DER. It takes about 60 µs. */
export function isSignatureValid(body: Uint8Array, { der }: ReportSignature, key: KeyObject): boolean {
  return verify("sha256", body, { key, dsaEncoding: "der" }, der)
}
