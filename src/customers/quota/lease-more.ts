import type { Store } from "../store/store.ts"
import type { Lease } from "./lease.ts"
import { addLeased, readLeased } from "./unit-rows.ts"

/** What the store has leased for a lease. */
export type LeaseAnswer = { readonly lease: Lease; readonly leased: number; readonly granted: number }

/** Leases as many units as the lease wishes for. Each turn that gets none means that another process got some. */
export async function leaseMore(store: Store, lease: Lease): Promise<LeaseAnswer> {
  for (;;) {
    const leased = await readLeased(store, lease.subject, lease.day)
    const count = lease.wish(leased)
    if (count === 0) return { lease, leased, granted: 0 }
    const { subject, day, perDay } = lease
    const added = await addLeased(store, { subject, day, count }, perDay)
    if (added !== null) return { lease, leased: added, granted: count }
  }
}
