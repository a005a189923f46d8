import type { Usage } from "../../../../contract/usage-schema.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { KeyDayUsage } from "../../../../customers/usage/usage-history.ts"
import type { SignedInUser } from "../../guards.ts"
import type { LatestRequests } from "./latest-panel.tsx"
import type { StartStep } from "./start-steps.tsx"
import type { UsageQuery } from "./usage-query.ts"

/** The data of the overview. */
export type OverviewData = {
  readonly user: SignedInUser
  readonly usage: Usage
  readonly query: UsageQuery
  /** The usage of the period that the query names, of the key that it names. */
  readonly history: readonly KeyDayUsage[]
  /** That of the period before. Null: it is not stored any more. */
  readonly historyBefore: readonly KeyDayUsage[] | null
  /** Whether the account has checked anything, as far as usage is stored. */
  readonly hasChecks: boolean
  /** The ids of what did something, as far as usage is stored. */
  readonly usedKeyIds: readonly string[]
  /** The last day of the period. */
  readonly today: number
  /** The account's keys: active ones first, then the newest. */
  readonly keys: readonly ApiKey[]
  readonly latest: LatestRequests
  readonly nowMs: number
  /** Null: the account has done all of them. */
  readonly nextStep: StartStep | null
  readonly baseUrl: string
  /** The path of `overview.js`. */
  readonly script: string
}
