import { createHmac, timingSafeEqual } from "node:crypto"
import type { Clock, Random } from "../../base/outside-world.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Store } from "../store/core/store.ts"
import { generateCode, hashSecret, isSecret, newSecret, sealEmail, unsealEmail, validStartRange } from "./secrets.ts"

/*
 * A sign-in is open from the moment in which somebody asks for it until one of these happens: its link is used, its code is
 * typed in the browser that asked, the code was tried `LIMITS.signInTriesMax` times, or `SIGN_IN_MS` have passed. Then it is
 * gone, and nothing tells which of them it was.
 */

/** How long a sign-in is open, in milliseconds. */
export const SIGN_IN_MS = LIMITS.signInMinutes * 60_000

/** How many sign-ins are open at most: three hours' worth of what all together may ask for. Beyond, the oldest are gone. */
const PENDING_SIGN_INS_MAX = 10_000

/** How many of them one more asking deletes at most. */
const DELETED_AT_ONCE_MAX = 100

/** What a new sign-in is known by, this once: link and code go into the mail, `browser` to who asked. */
export type PendingSignIn = { readonly link: string; readonly code: string; readonly browser: string }

/** Opens a sign-in for an email, as `normalizeAccountEmail` writes it, be there an account or not: nobody looks. */
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
    await inner.run(
      `INSERT INTO sign_ins (link_hash, browser_hash, code_hash, email_by_link, email_by_browser, tries_left, asked_at_ms)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      row,
    )
    await inner.run(
      `DELETE FROM sign_ins WHERE link_hash IN
         (SELECT link_hash FROM sign_ins ORDER BY asked_at_ms DESC, link_hash LIMIT $2 OFFSET $1)`,
      [PENDING_SIGN_INS_MAX, DELETED_AT_ONCE_MAX],
    )
  })
  return { link, code, browser }
}

/** The email of the open sign-in whose link has this secret; null: it is gone. It stays open. */
export async function emailByLink(store: Store, clock: Clock, link: string): Promise<string | null> {
  return await readEmail(store, clock(), "link", link)
}

/** The same for the browser that has this secret. */
export async function emailByBrowser(store: Store, clock: Clock, browser: string): Promise<string | null> {
  return await readEmail(store, clock(), "browser", browser)
}

/** What a link or a code has proved: that whoever brought it reads the mail of an address. */
export type SignInProof =
  | { readonly kind: "proved"; readonly email: string }
  | { readonly kind: "wrong_code"; readonly triesLeft: number }
  | { readonly kind: "gone" }

const GONE = { kind: "gone" } as const

/** Uses a link up, as part of a transaction: that of `store`. Of several that bring it, one has proved anything. */
export async function proveByLink(store: Store, nowMs: number, link: string): Promise<SignInProof> {
  if (!isSecret(link)) return GONE
  const row = await store.one<{ sealed: string }>(
    `DELETE FROM sign_ins WHERE link_hash = $1 AND ${IS_PENDING} RETURNING email_by_link AS sealed`,
    [hashSecret(link), ...validStartRange(nowMs, SIGN_IN_MS)],
  )
  return row === null ? GONE : { kind: "proved", email: unsealEmail(row.sealed, link) }
}

/**
 * Tries a code of `parseTypedCode` in the browser that has this secret, as part of a transaction, that of `store`, which must not
 * be taken back when the code is wrong. The try is counted before the code is looked at, however many come at once.
 */
export async function proveByCode(store: Store, nowMs: number, browser: string, code: string): Promise<SignInProof> {
  if (!isSecret(browser)) return GONE
  const hash = hashSecret(browser)
  const row = await store.one<{ code_hash: string; sealed: string; tries_left: number }>(
    `UPDATE sign_ins SET tries_left = tries_left - 1 WHERE browser_hash = $1 AND ${IS_PENDING} AND tries_left > 0
     RETURNING code_hash, email_by_browser AS sealed, tries_left`,
    [hash, ...validStartRange(nowMs, SIGN_IN_MS)],
  )
  if (row === null) return GONE
  const isRight = timingSafeEqual(Buffer.from(row.code_hash), Buffer.from(hashCode(code, browser)))
  if (isRight || row.tries_left === 0) await store.run("DELETE FROM sign_ins WHERE browser_hash = $1", [hash])
  return isRight
    ? { kind: "proved", email: unsealEmail(row.sealed, browser) }
    : { kind: "wrong_code", triesLeft: row.tries_left }
}

/** Deletes at most `countMax` sign-ins that are gone by time, and gives their count. */
export async function pruneSignIns(store: Store, clock: Clock, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM sign_ins WHERE link_hash IN
       (SELECT link_hash FROM sign_ins WHERE asked_at_ms <= $1 OR asked_at_ms >= $2 LIMIT $3)`,
    [...validStartRange(clock(), SIGN_IN_MS), countMax],
  )
}

/** Between the parameters of `validStartRange`. */
const IS_PENDING = "asked_at_ms > $2 AND asked_at_ms < $3"

async function readEmail(store: Store, nowMs: number, by: "link" | "browser", secret: string): Promise<string | null> {
  if (!isSecret(secret)) return null
  const row = await store.one<{ sealed: string }>(
    `SELECT email_by_${by} AS sealed FROM sign_ins WHERE ${by}_hash = $1 AND ${IS_PENDING}`,
    [hashSecret(secret), ...validStartRange(nowMs, SIGN_IN_MS)],
  )
  return row && unsealEmail(row.sealed, secret)
}

/** A million codes are soon hashed: only who has the browser's secret can compare any with what is stored. */
const hashCode = (code: string, browser: string): string =>
  createHmac("sha256", browser).update(`code ${code}`).digest("hex")
