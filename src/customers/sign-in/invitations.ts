import type { Clock, Random } from "../../base/outside-world.ts"
import { DAY_MS } from "../../base/time.ts"
import type { TrustedInstant } from "../../base/trusted-clock.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import { accountEmailHash, normalizeAccountEmail } from "../accounts/account-email.ts"
import { findAccountByEmail, isTier } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { isMailable } from "../notices/mailer.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { hashSecret, isSecret, newSecret, sealEmail, unsealEmail, validStartRange } from "./secrets.ts"
import type { SignInMailsDeps } from "./sign-in-mails.ts"

/*
 * An invitation lets one address have an account, also while sign-up is closed. Its link works once within `LIMITS.invitationDays` days.
 * The store knows the address only under the secret of the link, and a hash of it, by which a new invitation replaces the last one and the
 * account of the address ends it.
 */

/** How long an invitation is valid, in milliseconds. */
const INVITATION_MS = LIMITS.invitationDays * DAY_MS

/** A valid invitation, as an administrator sees it. */
export type Invitation = {
  readonly id: string
  readonly tier: number
  readonly createdAtMs: number
  readonly endsAtMs: number
}

/** A new invitation with the secret of its link, available only here; or why there is none. */
export type InvitationResult =
  | { readonly kind: "invited"; readonly invitation: Invitation; readonly email: string; readonly link: string }
  | { readonly kind: InvitationRefusal }

/** Why nobody is invited. */
export type InvitationRefusal = "malformed_email" | "email_taken" | "unknown_tier" | "too_many_invitations"

/** Invites an address. A former invitation of the address ends. */
export async function invite(
  log: Pick<AttributedLog, "store" | "clock" | "actor">,
  random: Random,
  { email: written, tier }: { readonly email: string; readonly tier: number },
): Promise<InvitationResult> {
  const email = normalizeAccountEmail(written)
  if (email === null) return { kind: "malformed_email" }
  if (!isTier(tier)) return { kind: "unknown_tier" }
  const [id, link, nowMs] = [newId("inv", random), newSecret(random), log.clock()]
  return await log.store.transaction(async (store): Promise<InvitationResult> => {
    if ((await findAccountByEmail(store, email)) !== null) return { kind: "email_taken" }
    const emailHash = accountEmailHash(email)
    const row = await store.one<{ n: number }>(
      `SELECT COUNT(*) AS n FROM invitations WHERE email_hash <> $1 AND ${IS_VALID}`,
      [emailHash, ...validStartRange(nowMs, INVITATION_MS)],
    )
    if ((row?.n ?? 0) >= LIMITS.invitationsMax) return { kind: "too_many_invitations" }
    await store.run(
      `INSERT INTO invitations (id, link_hash, email_hash, email_by_link, tier, created_at_ms)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (email_hash) DO UPDATE SET id = excluded.id, link_hash = excluded.link_hash,
         email_by_link = excluded.email_by_link, tier = excluded.tier, created_at_ms = excluded.created_at_ms`,
      [id, hashSecret(link), emailHash, sealEmail(email, link, random), tier, nowMs],
    )
    await recordAct(log, store, { kind: "account_invited", accountId: null, details: id })
    return { kind: "invited", invitation: toInvitation({ id, tier, created_at_ms: nowMs }), email, link }
  })
}

/** The address of an invitation. */
export const invitationLink = (baseUrl: string, secret: string): string =>
  `${baseUrl}${ROUTES.invitation.path}?token=${secret}`

/** Mails the link of an invitation. False: no mail server is set, or it does not take the mail. */
export const sendInvitation = async (send: SignInMailsDeps["sendNow"], to: string, link: string): Promise<boolean> =>
  isMailable(to) && (await send(to, { kind: "invitation", params: { link } })).kind === "accepted"

/** The address and tier of a valid invitation; null: there is none with this secret. It stays valid. */
export async function findInvitation(store: Store, clock: Clock, link: string): Promise<Invited | null> {
  if (!isSecret(link)) return null
  const row = await store.one<InvitedRow>(
    `SELECT email_by_link, tier FROM invitations WHERE link_hash = $1 AND ${IS_VALID}`,
    [hashSecret(link), ...validStartRange(clock(), INVITATION_MS)],
  )
  return row && toInvited(row, link)
}

type Invited = { readonly email: string; readonly tier: number }

/**
 * Consumes an invitation within the transaction of `store`. If it is used several times, only one use succeeds. Null: there is none, or
 * the address has an account by now.
 */
export async function acceptInvitation(store: Store, nowMs: number, link: string): Promise<Invited | null> {
  if (!isSecret(link)) return null
  const row = await store.one<InvitedRow>(
    `DELETE FROM invitations WHERE link_hash = $1 AND ${IS_VALID} RETURNING email_by_link, tier`,
    [hashSecret(link), ...validStartRange(nowMs, INVITATION_MS)],
  )
  return row && toInvited(row, link)
}

/** The valid invitations, the latest first. */
export async function listInvitations(store: Store, clock: Clock): Promise<readonly Invitation[]> {
  const rows = await store.all<InvitationRow>(
    `SELECT id, tier, created_at_ms FROM invitations WHERE created_at_ms > $1 AND created_at_ms < $2
     ORDER BY created_at_ms DESC, id LIMIT $3`,
    [...validStartRange(clock(), INVITATION_MS), LIMITS.invitationsMax],
  )
  return rows.map(toInvitation)
}

/** Ends an invitation. False: there is none with this id. */
export async function revokeInvitation(
  log: Pick<AttributedLog, "store" | "clock" | "actor">,
  id: string,
): Promise<boolean> {
  return await log.store.transaction(async store => {
    if ((await store.run("DELETE FROM invitations WHERE id = $1", [id])) === 0) return false
    await recordAct(log, store, { kind: "invitation_revoked", accountId: null, details: id })
    return true
  })
}

/** The id of the invitation of an address. Null: there is none, or the text is no address. */
export async function invitationOf(store: Store, written: string): Promise<string | null> {
  const email = normalizeAccountEmail(written)
  if (email === null) return null
  const row = await store.one<{ id: string }>("SELECT id FROM invitations WHERE email_hash = $1", [
    accountEmailHash(email),
  ])
  return row?.id ?? null
}

/** Deletes at most `countMax` expired invitations and returns their count. */
export async function pruneInvitations(store: Store, nowMs: TrustedInstant, countMax: number): Promise<number> {
  return await store.run(
    `DELETE FROM invitations WHERE id IN
       (SELECT id FROM invitations WHERE created_at_ms <= $1 OR created_at_ms >= $2 LIMIT $3)`,
    [...validStartRange(nowMs, INVITATION_MS), countMax],
  )
}

/** SQL condition on the parameters of `validStartRange`. */
const IS_VALID = "created_at_ms > $2 AND created_at_ms < $3"

type InvitationRow = { readonly id: string; readonly tier: number; readonly created_at_ms: number }
type InvitedRow = { readonly email_by_link: string; readonly tier: number }

const toInvited = ({ email_by_link, tier }: InvitedRow, link: string): Invited => ({
  email: unsealEmail(email_by_link, link),
  tier,
})

const toInvitation = ({ id, tier, created_at_ms }: InvitationRow): Invitation => ({
  ...{ id, tier, createdAtMs: created_at_ms },
  endsAtMs: created_at_ms + INVITATION_MS,
})
