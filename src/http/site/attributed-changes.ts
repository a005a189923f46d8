import { ownerActor } from "../../customers/store/change-log/actor.ts"
import type { AttributedLog } from "../../customers/store/change-log/change-log.ts"
import type { SignedInUser } from "./guards.ts"
import type { SiteContext } from "./site-context.ts"

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
