import { domainToALabels, hasValidULabels } from "../../base/idna.ts"
import { DOT_ATOM, parseLocalPartContent } from "../../base/local-part.ts"
import { trimSpace } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"

/** Characters that a domain may have. Excludes those that `domainToALabels` would decode or cut at (`%41`, `a/b`, `a:80`). */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u

/** DOT_ATOM holds no other control characters. */
const CONTROL = /[\x80-\x9f]/

/** A-labels; a last label of digits alone would be an IPv4 address. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Returns an account's email as it is stored and looked up: lower case, NFC, the domain as A-labels, so that one mailbox
 * has one account. Its syntax is that of checks (DECISIONS 112), but for quoted local parts, address literals and white space inside,
 * which no account can have. Tags and dots stay. Single labels (`owner@localhost`) are allowed. Null: the text is none.
 */
export function normalizeAccountEmail(text: string): string | null {
  if (text.length > LIMITS.addressBytesMax * 2) return null
  const trimmed = trimSpace(text)
  const at = trimmed.lastIndexOf("@")
  const sentLocalPart = trimmed.slice(0, Math.max(at, 0))
  const writtenDomain = trimmed.slice(at + 1)
  if (!DOT_ATOM.test(sentLocalPart) || CONTROL.test(sentLocalPart) || !WRITTEN_DOMAIN.test(writtenDomain)) return null
  const localPart = parseLocalPartContent(sentLocalPart)
  const domain = domainToALabels(writtenDomain)
  if (localPart === null || !DOT_ATOM.test(localPart) || !DOMAIN.test(domain) || !hasValidULabels(domain)) return null
  const email = `${localPart}@${domain}`
  if (domain.length > LIMITS.domainBytesMax || Buffer.byteLength(localPart) > LIMITS.localPartBytesMax) return null
  return Buffer.byteLength(email) > LIMITS.addressBytesMax ? null : email
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

/** What stands for an email, in normal form, in rows that outlive its account or come before it: SHA-256, hex. */
export const accountEmailHash = (email: string): string => Bun.SHA256.hash(email, "hex")
