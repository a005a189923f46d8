import { accountEmail } from "./account-email.ts"

/**
 * What tells whether an account is one of these emails', however they are written. Null: one of them is no email that an
 * account can have.
 */
export function adminsAmong(emails: readonly string[]): ((email: string) => boolean) | null {
  const written = emails.map(accountEmail)
  if (written.includes(null)) return null
  const admins = new Set(written)
  return email => admins.has(email)
}
