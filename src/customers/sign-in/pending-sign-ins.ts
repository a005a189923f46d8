import { createHmac, timingSafeEqual } from "node:crypto"
import type { Clock, Random } from "../../base/outside-world.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { createBulkStatements } from "../store/core/sql-text.ts"
import type { Store } from "../store/core/store.ts"
import { ensureInstallationSecret } from "./installation-secret.ts"
import { generateCode, hashSecret, isSecret, newSecret, sealEmail, unsealEmail, validStartRange } from "./secrets.ts"
import { addWrongCode, removeWrongCode, wrongCodeCount } from "./wrong-codes.ts"

/*
 * A pending sign-in starts when a person asks for it. It ends when its link is used, its code is entered in the browser that
 * asked (unless `wrong-codes.ts` accepts none), the code was tried `LIMITS.signInTriesMax` times, or `SIGN_IN_MS` have passed. Then its row is deleted, and nothing
 * records which of these it was.
 */

/** How long a sign-in is pending, in milliseconds. */
export const SIGN_IN_MS = LIMITS.signInMinutes * 60_000

/** Pending sign-ins at most, three hours' worth of the total rate; beyond that the oldest are deleted. */
const PENDING_SIGN_INS_MAX = 10_000

/** How many of them one request deletes at most. */
const DELETED_AT_ONCE_MAX = 100

const deleteSignIns = createBulkStatements(["TEXT"], (_, links) => `DELETE FROM sign_ins WHERE link_hash IN (${links})`)

/** The secrets of a new sign-in, available only here: link and code go into the mail, `browser` to the browser that asked. */
export type PendingSignIn = { readonly link: string; readonly code: string; readonly browser: string }

/** Creates a pending sign-in for an email from `normalizeAccountEmail`, whether or not an account exists. */
export async function openSignIn(store: Store, clock: Clock, random: Random, email: string): Promise<PendingSignIn> {
  const [link, browser, code] = [newSecret(random), newSecret(random), generateCode(random)]
  const row = [
    hashSecret(link),
    hashSecret(browser),
    hashCode(code, browser),
    sealEmail(email, link, random),
    sealEmail(email, browser, random),
    LIMITS.signInTriesMax,
    clock(),
  ]
  await store.transaction(async inner => {
    // The key under which wrong codes are counted.
    await ensureInstallationSecret(inner, random)
    await inner.run(
      `INSERT INTO sign_ins (link_hash, browser_hash, code_hash, email_by_link, email_by_browser, tries_left, asked_at_ms)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      row,
    )
    const oldest = await inner.all<{ readonly link_hash: string }>(
      "SELECT link_hash FROM sign_ins ORDER BY asked_at_ms DESC, link_hash LIMIT $2 OFFSET $1",
      [PENDING_SIGN_INS_MAX, DELETED_AT_ONCE_MAX],
    )
    for (const { sql, params } of deleteSignIns(oldest.map(row => [row.link_hash]))) await inner.run(sql, params)
  })
  return { link, code, browser }
}

/** The email of the pending sign-in with this link secret; null: none. It stays pending. */
export async function emailByLink(store: Store, clock: Clock, link: string): Promise<string | null> {
  return await readEmail(store, clock(), "link", link)
}

/** The same for a browser secret. */
export async function emailByBrowser(store: Store, clock: Clock, browser: string): Promise<string | null> {
  return await readEmail(store, clock(), "browser", browser)
}

/** The proof of a link or code: its bearer reads the mail of an address. */
export type SignInProof =
  | { readonly kind: "proved"; readonly email: string }
  | { readonly kind: "wrong_code"; readonly triesLeft: number }
  /** Too many wrong codes came for the address today: no code is accepted, and the sign-in waits for its link. */
  | { readonly kind: "codes_locked" }
  | { readonly kind: "gone" }

const GONE = { kind: "gone" } as const

/** Consumes a link within the transaction of `store`. If it is used several times, only one use succeeds. */
export async function proveByLink(store: Store, nowMs: number, link: string): Promise<SignInProof> {
  if (!isSecret(link)) return GONE
  const row = await store.one<{ sealed: string }>(
    `DELETE FROM sign_ins WHERE link_hash = $1 AND ${IS_PENDING} RETURNING email_by_link AS sealed`,
    [hashSecret(link), ...validStartRange(nowMs, SIGN_IN_MS)],
  )
  return row === null ? GONE : { kind: "proved", email: unsealEmail(row.sealed, link) }
}

/**
 * Tries a code from `parseTypedCode` in the browser with this secret, within the transaction of `store`, which must be
 * committed even when the code is wrong. `day` is the one whose wrong codes count. The try is counted before the code is compared, so parallel tries all count.
 */
export async function proveByCode(
  store: Store,
  { nowMs, day }: { readonly nowMs: number; readonly day: number },
  browser: string,
  code: string,
): Promise<SignInProof> {
  if (!isSecret(browser)) return GONE
  const hash = hashSecret(browser)
  const row = await store.one<{ code_hash: string; sealed: string; tries_left: number }>(
    `UPDATE sign_ins SET tries_left = tries_left - 1 WHERE browser_hash = $1 AND ${IS_PENDING} AND tries_left > 0
     RETURNING code_hash, email_by_browser AS sealed, tries_left`,
    [hash, ...validStartRange(nowMs, SIGN_IN_MS)],
  )
  if (row === null) return GONE
  const email = unsealEmail(row.sealed, browser)
  const today = await wrongCodeCount(store, day, email)
  if (today !== null && !(await addWrongCode(store, today))) {
    await store.run("UPDATE sign_ins SET tries_left = tries_left + 1 WHERE browser_hash = $1", [hash])
    return { kind: "codes_locked" }
  }
  const isRight = timingSafeEqual(Buffer.from(row.code_hash), Buffer.from(hashCode(code, browser)))
  if (isRight || row.tries_left === 0) await store.run("DELETE FROM sign_ins WHERE browser_hash = $1", [hash])
  if (!isRight) return { kind: "wrong_code", triesLeft: row.tries_left }
  if (today !== null) await removeWrongCode(store, today)
  return { kind: "proved", email }
}

/** Deletes at most `countMax` expired sign-ins and returns their count. */
export async function pruneSignIns(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM sign_ins WHERE link_hash IN
       (SELECT link_hash FROM sign_ins WHERE asked_at_ms <= $1 OR asked_at_ms >= $2 LIMIT $3)`,
    [...validStartRange(nowMs, SIGN_IN_MS), countMax],
  )
}

/** SQL condition on the parameters of `validStartRange`. */
const IS_PENDING = "asked_at_ms > $2 AND asked_at_ms < $3"

async function readEmail(store: Store, nowMs: number, by: "link" | "browser", secret: string): Promise<string | null> {
  if (!isSecret(secret)) return null
  const row = await store.one<{ sealed: string }>(
    `SELECT email_by_${by} AS sealed FROM sign_ins WHERE ${by}_hash = $1 AND ${IS_PENDING}`,
    [hashSecret(secret), ...validStartRange(nowMs, SIGN_IN_MS)],
  )
  return row && unsealEmail(row.sealed, secret)
}

/** A million codes are quickly hashed, so the hash includes the browser's secret. */
const hashCode = (code: string, browser: string): string =>
  createHmac("sha256", browser).update(`code ${code}`).digest("hex")
