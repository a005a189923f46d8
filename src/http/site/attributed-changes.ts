import { removeAccount } from "../../customers/accounts/accounts.ts"
import { UNIT_POOLS, unitSubject } from "../../customers/accounts/unit-subjects.ts"
import { ownerActor } from "../../customers/store/change-log/actor.ts"
import type { AttributedLog } from "../../customers/store/change-log/change-log.ts"
import type { SignedInUser } from "./guards.ts"
import type { SiteContext } from "./site-context.ts"

/** Deletes an account. False: it was deleted before. */
export async function deleteAccount({ units }: Pick<SiteContext, "units">, log: AttributedLog, id: string) {
  // What is kept of its day is what it used, without what this process holds for it.
  await units.release(UNIT_POOLS.map(pool => unitSubject(id, pool)))
  return await removeAccount(log, id)
}

type Site = Pick<SiteContext, "changes">

/** The changes that somebody makes on the pages of their account. */
export const ownerChanges = ({ changes }: Site, { account }: Pick<SignedInUser, "account">): AttributedLog => ({
  ...changes,
  actor: ownerActor(account.id),
})

/** The changes that an administrator makes on the pages of administrators. */
export const adminChanges = ({ changes }: Site, { account }: Pick<SignedInUser, "account">): AttributedLog => ({
  ...changes,
  actor: { kind: "admin", id: account.id, source: "admin_pages", keyId: null },
})
