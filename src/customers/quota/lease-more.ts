import type { Store } from "../store/store.ts"
import type { Lease } from "./lease.ts"
import { addLeased, bySubject, readLeased } from "./unit-rows.ts"

/** What came of leasing for one lease: how many units of its day are leased by all, and how many of these it was granted now. */
export type Leasing = { readonly lease: Lease; readonly leased: number; readonly granted: number }

/**
 * Leases as many units as each lease wishes for, no two of them of the same day of a subject. Each turn in which one gets none
 * means that another process got some. `store` is a transaction's.
 */
export async function leaseMore(store: Store, leases: readonly Lease[]): Promise<readonly Leasing[]> {
  const done: Leasing[] = []
  for (let open = leases; open.length > 0; ) {
    const leased = await readLeased(store, open)
    const wishes = open.map((lease, at) => ({ lease, leased: leased[at] ?? 0, count: lease.wish(leased[at] ?? 0) }))
    done.push(...wishes.filter(({ count }) => count === 0).map(wish => ({ ...wish, granted: 0 })))
    const wanted = wishes.filter(({ count }) => count > 0)
    const left: Lease[] = []
    for (const [perDay, alike] of Map.groupBy(wanted.sort(byQuota), ({ lease }) => lease.perDay)) {
      const units = alike.map(({ lease: { subject, day }, count }) => ({ subject, day, count }))
      const added = await addLeased(store, units, perDay)
      for (const [at, { lease, count }] of alike.entries()) {
        const now = added[at] ?? null
        if (now === null) left.push(lease)
        else done.push({ lease, leased: now, granted: count })
      }
    }
    open = left
  }
  return done
}

type Wish = { readonly lease: Lease }

/** One order for all processes: in an engine that locks rows, two that take the same ones never wait for each other. */
const byQuota = ({ lease: one }: Wish, { lease: other }: Wish): number =>
  one.perDay - other.perDay || bySubject(one, other)
