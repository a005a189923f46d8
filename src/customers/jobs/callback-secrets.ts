import type { Random } from "../../base/outside-world.ts"
import { HOUR_MS } from "../../base/time.ts"
import { CALLBACK_LIMITS } from "../../contract/callbacks.ts"
import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"

/** What stands before a secret in base64 (Standard Webhooks, "Signature scheme"). */
const SECRET_PREFIX = "whsec_"

/** A secret as its owner gets it, and until when the former one signs too; null: there was none. */
export type NewCallbackSecret = { readonly secret: string; readonly formerUntilMs: number | null }

/** Makes the secret of an account, or replaces it. Nothing else gives its text. Null: the account is gone. */
export async function replaceCallbackSecret(
  { store, clock, actor, random }: Pick<AttributedLog, "store" | "clock" | "actor"> & { readonly random: Random },
  accountId: string,
): Promise<NewCallbackSecret | null> {
  const secret = Buffer.from(random(CALLBACK_LIMITS.secretBytes)).toString("base64")
  const nowMs = clock()
  const untilMs = nowMs + CALLBACK_LIMITS.formerSecretHours * HOUR_MS
  return await store.transaction(async inner => {
    const row = await inner.one<{ formerUntilMs: number | null }>(
      `INSERT INTO callback_secrets (account_id, secret, made_at_ms)
     SELECT id, $2, $3 FROM accounts WHERE id = $1
     ON CONFLICT (account_id) DO UPDATE SET former_secret = callback_secrets.secret, former_until_ms = $4,
       secret = excluded.secret, made_at_ms = excluded.made_at_ms
     RETURNING former_until_ms AS "formerUntilMs"`,
      [accountId, secret, nowMs, untilMs],
    )
    if (row === null) return null
    await recordAct({ clock, actor }, inner, { kind: "callback_secret_made", accountId, details: "" })
    return { secret: `${SECRET_PREFIX}${secret}`, formerUntilMs: row.formerUntilMs }
  })
}

/** When the secret of an account was made, in milliseconds since the Unix epoch; null: it has none. */
export async function callbackSecretMadeAtMs(store: Store, accountId: string): Promise<number | null> {
  const row = await store.one<{ madeAtMs: number }>(
    `SELECT made_at_ms AS "madeAtMs" FROM callback_secrets WHERE account_id = $1`,
    [accountId],
  )
  return row?.madeAtMs ?? null
}

/** The secrets that sign callbacks of an account now, the newest first. */
export async function signingSecrets(store: Store, accountId: string, nowMs: number): Promise<readonly Uint8Array[]> {
  const row = await store.one<{ secret: string; formerSecret: string | null }>(
    `SELECT secret, CASE WHEN former_until_ms > $2 THEN former_secret END AS "formerSecret"
     FROM callback_secrets WHERE account_id = $1`,
    [accountId, nowMs],
  )
  return [row?.secret, row?.formerSecret].flatMap(secret => (secret == null ? [] : [Buffer.from(secret, "base64")]))
}
