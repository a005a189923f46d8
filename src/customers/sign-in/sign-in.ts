import { assert } from "../../base/errors.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import { type Account, findAccountByEmail, insertAccount } from "../accounts/accounts.ts"
import { recordAct } from "../audit/audit.ts"
import { insertKey, momentOf, recordKeyCreation } from "../keys/keys.ts"
import { ownerActor } from "../store/change-log/actor.ts"
import { newId } from "../store/core/id.ts"
import type { Store } from "../store/core/store.ts"
import { currentTermsVersion } from "../terms/terms.ts"
import { proveByCode, proveByLink, type SignInProof } from "./pending-sign-ins.ts"
import { insertSession, type NewSession } from "./sessions.ts"

/** Credentials: the secret of a link, or the secret of the browser that asked and a code from `parseTypedCode`. */
export type SignInCredential =
  | { readonly kind: "link"; readonly link: string }
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
    const proof =
      brought.kind === "link"
        ? await proveByLink(inner, nowMs, brought.link)
        : await proveByCode(inner, { nowMs, day: deps.today() }, brought.browser, brought.code)
    if (proof.kind !== "proved") return proof
    const { account, firstKey } = await findOrCreateAccount(inner, deps, nowMs, proof.email)
    const newSession = await insertSession(inner, random, nowMs, account.id, agent)
    const log = { clock, actor: ownerActor(account.id) }
    await recordAct(log, inner, { kind: "signed_in", accountId: account.id, details: newSession.session.id })
    return { kind: "signed_in", account, newSession, firstKey }
  })
}

type SignInAccount = { readonly account: Account; readonly firstKey: string | null }

async function findOrCreateAccount(
  store: Store,
  { clock, today, random, newAccountTier: tier }: SignInDeps,
  nowMs: number,
  email: string,
): Promise<SignInAccount> {
  const termsVersion = await currentTermsVersion(store)
  // Insert first, then read: on PostgreSQL two transactions run side by side, and the slower one finds the other's row.
  const creation = await insertAccount(store, newId("acc", random), nowMs, { email, tier, termsVersion })
  if (creation.kind === "email_taken") {
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
