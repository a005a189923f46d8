import { domainToASCII } from "node:url"
import { LIMITS } from "../../contract/limits.ts"

/** Letters, marks and digits of any script (RFC 6531) and RFC 5322's `atext`, in parts between single dots. */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u

/** What a domain may be written with; keeps out what `domainToASCII` would decode or cut off (`%41`, `a/b`, `a:80`). */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u

/** A-labels; a last label of digits alone would be an IPv4 address. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The form in which an account's email is stored and found: lower case, NFC, the domain as A-labels, so that one mailbox
 * makes one account. Null when the text is no address that an account can have: quoted local parts and address literals
 * are not, single labels (`owner@localhost`) are. Tags and dots stay.
 */
export function normalizeAccountEmail(text: string): string | null {
  if (text.length > LIMITS.addressBytesMax * 2) return null
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf("@")
  const localPart = lowerCase(trimmed.slice(0, Math.max(at, 0)))
  const writtenDomain = trimmed.slice(at + 1)
  if (at < 0 || !LOCAL_PART.test(localPart) || !WRITTEN_DOMAIN.test(writtenDomain)) return null
  const domain = domainToASCII(writtenDomain)
  const email = `${localPart}@${domain}`
  if (!DOMAIN.test(domain) || domain.length > LIMITS.domainBytesMax) return null
  if (Buffer.byteLength(localPart) > LIMITS.localPartBytesMax) return null
  return Buffer.byteLength(email) > LIMITS.addressBytesMax ? null : email
}

function lowerCase(text: string): string {
  return text.normalize("NFC").toLowerCase().normalize("NFC")
}

/**
 * What tells whether an account is one of these emails', however they are written. Null: one of them is no email that an
 * account can have.
 */
export function createAdminCheck(emails: readonly string[]): ((email: string) => boolean) | null {
  const written = emails.map(normalizeAccountEmail)
  if (written.includes(null)) return null
  const admins = new Set(written)
  return email => admins.has(email)
}
