import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { listSessions, type Session } from "../../../customers/sign-in/sessions.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import type { Visitor } from "../signed-in.ts"

/** What the page about an account shows. */
export type AccountView = {
  readonly visitor: Visitor
  /** What the account's tier allows; null: this server knows no such tier. */
  readonly limits: TierLimits | null
  readonly sessions: readonly Session[]
}

/** Reads what the page about an account shows. */
export type ReadAccountView = (visitor: Visitor) => Promise<AccountView>

/** Builds it over the limits of each tier, by its number. */
export function accountViews({ store, clock }: ChangeLog, tiers: readonly TierLimits[]): ReadAccountView {
  return async visitor => ({
    visitor,
    limits: tiers[visitor.account.tier] ?? null,
    sessions: await listSessions(store, clock, visitor.account.id),
  })
}
