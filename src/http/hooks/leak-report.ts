import { type KeyObject, verify } from "node:crypto"
import { decodeUtf8 } from "../../base/text.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import { LIMITS } from "../../contract/limits.ts"
import { hashKey } from "../../customers/keys/key-format.ts"
import type { LeakedKeyRevocation } from "../../customers/keys/keys.ts"
import { invalidInput } from "../response/problem.ts"

/** A text that was found in public, with the reporter's name for its type. */
export type LeakItem = { readonly token: string; readonly type: string }

/** `unreadableCount` counts the items without a text: there is nothing to revoke or to label in them. */
export type LeakReport = { readonly items: readonly LeakItem[]; readonly unreadableCount: number }

/** The response for one item. It names the token by its SHA-256, so that no response holds a key. */
export type LeakLabel = {
  /** In hex. */
  readonly token_hash: string
  readonly token_type: string
  readonly label: "true_positive" | "false_positive"
}

/**
 * Parses the bytes of a signed report. Throws `invalid_input` unless it is a JSON array with at most so many items. The media
 * type does not matter: the signature proves that this is a report, and a wrong header must not keep a leaked key alive.
 */
export function parseLeakReport(body: Uint8Array): LeakReport {
  const report = parseReportJson(body)
  if (!Array.isArray(report)) throw invalidInput([{ pointer: "", detail: "A report must be a JSON array." }])
  if (report.length > LIMITS.leakReportItemsMax)
    throw invalidInput([{ pointer: "", detail: `A report has at most ${LIMITS.leakReportItemsMax} items.` }])
  const items = report.flatMap((entry: unknown) => parseItem(entry) ?? [])
  return { items, unreadableCount: report.length - items.length }
}

/** The label of an item. A key that was revoked before is a true positive too. */
export function leakLabel({ token, type }: LeakItem, leak: LeakedKeyRevocation): LeakLabel {
  const label = leak.kind === "revoked" ? "true_positive" : "false_positive"
  return { token_hash: hashKey(token), token_type: type, label }
}

function parseItem(entry: unknown): LeakItem | null {
  const [token, type] = [ownMember(entry, "token"), ownMember(entry, "type")]
  return typeof token === "string" ? { token, type: typeof type === "string" ? type : "" } : null
}

function parseReportJson(body: Uint8Array): unknown {
  try {
    // Bytes that are not UTF-8 become the empty text, which is not JSON.
    return JSON.parse(decodeUtf8(body) ?? "")
  } catch (notJson) {
    // A SyntaxError, or a RangeError when the nesting exceeds the parser's stack.
    if (notJson instanceof Error) throw invalidInput([{ pointer: "", detail: "The body is not JSON." }])
    throw notJson
  }
}

/** The identifier of the reporter's key, and the signature in DER. */
export type ReportSignature = { readonly identifier: string; readonly der: Uint8Array }

/** Base64 with padding (RFC 4648 §4). A DER signature on P-256 has at most 72 bytes. */
const SIGNATURE_PATTERN = /^(?=.{1,96}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The signature in the headers of a report; null: a header is missing or malformed. */
export function signatureFromHeaders(headers: Headers): ReportSignature | null {
  const identifier = headers.get("github-public-key-identifier") ?? ""
  const signature = headers.get("github-public-key-signature") ?? ""
  if (identifier === "" || !SIGNATURE_PATTERN.test(signature)) return null
  return { identifier, der: Buffer.from(signature, "base64") }
}

/** Verifies an ECDSA signature with SHA-256. It takes about 60 µs. */
export function isSignatureValid(body: Uint8Array, { der }: ReportSignature, key: KeyObject): boolean {
  return verify("sha256", body, { key, dsaEncoding: "der" }, der)
}
