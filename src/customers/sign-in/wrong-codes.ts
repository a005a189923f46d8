import { utcDay } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/core/store.ts"
import { keyedHash, readInstallationSecret } from "./installation-secret.ts"

/*
 * Wrong codes are counted by mailbox and day. After `LIMITS.wrongCodesPerAddressAndDay` of them no code is accepted for the mailbox
 * until midnight UTC, so that guessing never gets far; the link in the mail works all the same. The mailbox is a keyed hash that
 * differs from day to day.
 */

/** The mailbox of an email from `normalizeAccountEmail`: the address without a `+tag`, which most servers deliver to the same one. */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf("@")
  const plus = email.indexOf("+")
  return plus > 0 && plus < at ? email.slice(0, plus) + email.slice(at) : email
}

/** The row of a mailbox on a day. */
type WrongCodeCount = { readonly mailboxHash: string; readonly day: number }

/** The row of the email's mailbox on a day. Null: the installation has no secret yet, so no sign-in can be pending. */
export async function wrongCodeCount(store: Store, day: number, email: string): Promise<WrongCodeCount | null> {
  const secret = await readInstallationSecret(store)
  if (secret === null) return null
  return { mailboxHash: keyedHash(keyedHash(secret, "wrong codes"), `${day} ${mailboxOf(email)}`), day }
}

/** Counts one wrong code; false: the mailbox takes no codes that day. A single statement, so that parallel tries all count. */
export async function addWrongCode(store: Store, { mailboxHash, day }: WrongCodeCount): Promise<boolean> {
  const count = await store.run(
    `INSERT INTO sign_in_wrong_codes (mailbox_hash, day, count) VALUES ($1, $2, 1)
     ON CONFLICT (mailbox_hash) DO UPDATE SET count = sign_in_wrong_codes.count + 1
       WHERE sign_in_wrong_codes.count < $3`,
    [mailboxHash, day, LIMITS.wrongCodesPerAddressAndDay],
  )
  return count > 0
}

/** Takes back one that was counted before the code was known to be right. */
export async function removeWrongCode(store: Store, { mailboxHash }: WrongCodeCount): Promise<void> {
  await store.run("UPDATE sign_in_wrong_codes SET count = count - 1 WHERE mailbox_hash = $1", [mailboxHash])
  await store.run("DELETE FROM sign_in_wrong_codes WHERE mailbox_hash = $1 AND count = 0", [mailboxHash])
}

/** Whether no code is accepted for the email on this day. */
export async function areCodesLocked(store: Store, day: number, email: string): Promise<boolean> {
  const today = await wrongCodeCount(store, day, email)
  if (today === null) return false
  const row = await store.one<{ count: number }>("SELECT count FROM sign_in_wrong_codes WHERE mailbox_hash = $1", [
    today.mailboxHash,
  ])
  return row !== null && row.count >= LIMITS.wrongCodesPerAddressAndDay
}

/** Deletes at most `countMax` counts of days before yesterday, and returns their count. A clock set back slightly opens no lock. */
export async function pruneWrongCodes(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM sign_in_wrong_codes WHERE mailbox_hash IN
       (SELECT mailbox_hash FROM sign_in_wrong_codes WHERE day < $1 LIMIT $2)`,
    [utcDay(nowMs) - 1, countMax],
  )
}
