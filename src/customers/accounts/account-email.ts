import { domainToALabels } from "../../base/idna.ts"
import { LIMITS } from "../../contract/limits.ts"

/** Letters, marks and digits of any script (RFC 6531) and RFC 5322's `atext`, in parts between single dots. */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u

/** Characters that a domain may have. Excludes those that `domainToALabels` would decode or cut at (`%41`, `a/b`, `a:80`). */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u

/** A-labels; a last label of digits alone would be an IPv4 address. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Returns an account's email as it is stored and looked up: lower case, NFC, the domain as A-labels, so that one mailbox
 * has one account. Tags and dots stay. Null when an account cannot have the address: quoted local parts and address
 * literals are refused, single labels (`owner@localhost`) are allowed.
 */
export function normalizeAccountEmail(text: string): string | null {
  if (text.length > LIMITS.addressBytesMax * 2) return null
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf("@")
  const localPart = lowerCase(trimmed.slice(0, Math.max(at, 0)))
  const writtenDomain = trimmed.slice(at + 1)
  if (at < 0 || !LOCAL_PART.test(localPart) || !WRITTEN_DOMAIN.test(writtenDomain)) return null
  const domain = domainToALabels(writtenDomain)
  const email = `${localPart}@${domain}`
  if (!DOMAIN.test(domain) || domain.length > LIMITS.domainBytesMax) return null
  if (Buffer.byteLength(localPart) > LIMITS.localPartBytesMax) return null
  return Buffer.byteLength(email) > LIMITS.addressBytesMax ? null : email
}

function lowerCase(text: string): string {
  return text.normalize("NFC").toLowerCase().normalize("NFC")
}

/**
 * Returns a predicate that tells whether an account has one of these emails, in any spelling. Null when an account cannot
 * have one of them.
 */
export function createAdminCheck(emails: readonly string[]): ((email: string) => boolean) | null {
  const written = emails.map(normalizeAccountEmail)
  if (written.includes(null)) return null
  const admins = new Set(written)
  return email => admins.has(email)
}
