import { assert } from "../../base/errors.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import { type Account, findAccountByEmail, insertAccount } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { insertKey, momentOf, recordKeyCreation } from "../keys/keys.ts"
import { ownerActor } from "../store/change-log/actor.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { currentTermsVersion } from "../terms/terms.ts"
import { acceptInvitation } from "./invitations.ts"
import { proveByCode, proveByLink, type SignInProof } from "./pending-sign-ins.ts"
import { insertSession, type NewSession } from "./sessions.ts"

/** Credentials: the secret of a link or an invitation, or the secret of the browser that asked and a code from `parseTypedCode`. */
export type SignInCredential =
  | { readonly kind: "link"; readonly link: string }
  | { readonly kind: "invitation"; readonly link: string }
  | { readonly kind: "code"; readonly browser: string; readonly code: string }

/** Dependencies of a sign-in. */
export type SignInDeps = {
  readonly store: Store
  readonly clock: Clock
  /** The day whose wrong codes are counted now, which a wrong clock of this host does not open. */
  readonly today: () => number
  readonly random: Random
  /** The tier of an account created by a first sign-in. */
  readonly newAccountTier: number
  /** Whether a first sign-in with this email creates an account. */
  readonly maySignUp: (email: string) => boolean
}

/** The new session, or why there is none. */
export type SignInResult =
  | {
      readonly kind: "signed_in"
      readonly account: Account
      readonly newSession: NewSession
      /** The account's first key in plain text, available only here; null: the account existed before. */
      readonly firstKey: string | null
    }
  | Exclude<SignInProof, { readonly kind: "proved" }>

/**
 * Creates a session for the address that the credentials prove, in the browser described by `agent`. If no account has the
 * address, creates one that has accepted the current terms, with its first secret key. Atomic, and at most once for the same
 * credentials.
 */
export async function signIn(deps: SignInDeps, brought: SignInCredential, agent: string): Promise<SignInResult> {
  const { store, clock, random } = deps
  return await store.transaction(async (inner): Promise<SignInResult> => {
    const nowMs = clock()
    const proof = await prove(inner, deps, nowMs, brought)
    if (proof.kind !== "proved") return proof
    const found = await findOrCreateAccount(inner, deps, nowMs, proof)
    if (found === null) return { kind: "gone" }
    const { account, firstKey } = found
    const newSession = await insertSession(inner, random, nowMs, account.id, agent)
    const log = { clock, actor: ownerActor(account.id) }
    if (brought.kind === "invitation")
      await recordAct(log, inner, { kind: "invitation_accepted", accountId: account.id, details: "" })
    await recordAct(log, inner, { kind: "signed_in", accountId: account.id, details: newSession.session.id })
    return { kind: "signed_in", account, newSession, firstKey }
  })
}

/** An address that is proved. `invitedTier`: it was proved by an invitation, to an account of this tier. */
type Proved = { readonly kind: "proved"; readonly email: string; readonly invitedTier?: number }

async function prove(
  store: Store,
  { today }: SignInDeps,
  nowMs: number,
  brought: SignInCredential,
): Promise<Proved | Exclude<SignInProof, { readonly kind: "proved" }>> {
  switch (brought.kind) {
    case "link":
      return await proveByLink(store, nowMs, brought.link)
    case "invitation": {
      const invited = await acceptInvitation(store, nowMs, brought.link)
      return invited === null ? { kind: "gone" } : { kind: "proved", email: invited.email, invitedTier: invited.tier }
    }
    case "code":
      return await proveByCode(store, { nowMs, day: today() }, brought.browser, brought.code)
  }
}

type SignInAccount = { readonly account: Account; readonly firstKey: string | null }

/** Null: there is no account, and the address may have none. Who holds an invitation gets into no account that exists. */
async function findOrCreateAccount(
  store: Store,
  { clock, today, random, newAccountTier, maySignUp }: SignInDeps,
  nowMs: number,
  { email, invitedTier }: Proved,
): Promise<SignInAccount | null> {
  if (invitedTier === undefined && !maySignUp(email)) {
    const account = await findAccountByEmail(store, email)
    return account && { account, firstKey: null }
  }
  const tier = invitedTier ?? newAccountTier
  const termsVersion = await currentTermsVersion(store)
  // Insert first, then read: on PostgreSQL two transactions run side by side, and the slower one finds the other's row.
  const creation = await insertAccount(store, newId("acc", random), nowMs, { email, tier, termsVersion })
  if (creation.kind === "email_taken") {
    if (invitedTier !== undefined) return null
    const account = await findAccountByEmail(store, email)
    assert(account !== null, "an email that is taken is an account's")
    return { account, firstKey: null }
  }
  assert(creation.kind === "created", "an address that got a sign-in may have an account")
  const { account } = creation
  const wanted = { accountId: account.id, kind: "secret", name: null, origins: [] } as const
  const key = await insertKey(store, random, momentOf({ clock, today }), wanted)
  assert(key.kind === "created", "a new account may have a key")
  const log = { clock, actor: ownerActor(account.id) }
  await recordAct(log, store, { kind: "account_created", accountId: account.id, details: "" })
  await recordKeyCreation(log, store, key)
  return { account, firstKey: key.text }
}
