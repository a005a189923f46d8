import { type KeyObject, verify } from "node:crypto"

/** How a report says that it is the reporter's. */
export type ReportSignature = { readonly identifier: string; readonly der: Uint8Array }

/** Base64 with its padding (RFC 4648 §4); a DER signature on P-256 has at most 72 octets. */
const SIGNATURE = /^(?=.{1,96}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The signature of a report by its headers; null when one of the two is missing or no such header. */
export function reportSignature(headers: Headers): ReportSignature | null {
  const identifier = headers.get("github-public-key-identifier") ?? ""
  const signature = headers.get("github-public-key-signature") ?? ""
  if (identifier === "" || !SIGNATURE.test(signature)) return null
  return { identifier, der: Buffer.from(signature, "base64") }
}

/** Whether the octets were signed by the key's owner: ECDSA with SHA-256, the signature in DER. It takes about 60 µs. */
export function isSigned(body: Uint8Array, { der }: ReportSignature, key: KeyObject): boolean {
  return verify("sha256", body, { key, dsaEncoding: "der" }, der)
}
