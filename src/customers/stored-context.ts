import type { PartContext } from "../base/part-context.ts"
import type { TrustedTime } from "../base/trusted-clock.ts"
import type { OpenStore } from "./store/core/store.ts"

/** What the parts of a process are created from once the store is open. */
export type StoredContext<Settings = unknown> = PartContext<Settings> & {
  readonly store: OpenStore
  readonly trustedTime: TrustedTime
}
