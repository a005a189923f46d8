import type { PartContext } from "../base/part-context.ts"
import type { TrustedTime } from "../base/trusted-clock.ts"
import type { OpenStore } from "./store/core/store.ts"
import type { DatabasePoll } from "./store/poll/database-poll.ts"
import type { NodeClaims } from "./store/poll/node-claims.ts"

/** What the parts of a process are created from once the store is open. */
export type StoredContext<Settings = unknown> = PartContext<Settings> & {
  readonly store: OpenStore
  readonly trustedTime: TrustedTime
  /** Asks the database for all parts what has changed and what is due. */
  readonly poll: Pick<DatabasePoll, "add" | "poll">
  /** What one process of the node does for all of them. */
  readonly claims: NodeClaims
}
