import type { TakeUnitsResult } from "../../../../src/customers/quota/units/unit-lease.ts"
import { UNIT_QUOTA_BOUNDS, UnitQuota, type UnitQuotaBounds } from "../../../../src/customers/quota/units/unit-quota.ts"
import type { Store } from "../../../../src/customers/store/core/store.ts"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { stoppedClock } from "../../../support/clock.ts"
import { pendingSettled } from "../../../support/pending-work.ts"
import { tempStore } from "../../temp-store.ts"

export const DAY_MS = 86_400_000

/** Noon of a day, so that an hour either way stays on it. */
export const NOON = Date.UTC(2026, 0, 1, 12)

/** That day, counted from 1 January 1970. */
export const TODAY = Math.floor(NOON / DAY_MS)

/** A store that counts transactions. They fail while `isFailing`; everything rejects while `isUnavailable`; commits reject as `unsure` while `isUnsure`. */
export function watchedStore(
  store: Store,
): Store & { requests: number; isFailing: boolean; isUnavailable: boolean; isUnsure: boolean } {
  const away = () => Promise.reject(new StoreError("away", "postgres://db", "no answer"))
  const watching = {
    ...store,
    requests: 0,
    isFailing: false,
    isUnavailable: false,
    isUnsure: false,
    all: <Row>(...requested: Parameters<Store["all"]>) =>
      watching.isUnavailable ? away() : store.all<Row>(...requested),
    one: <Row>(...requested: Parameters<Store["one"]>) =>
      watching.isUnavailable ? away() : store.one<Row>(...requested),
    transaction: async <T>(work: (inner: Store) => Promise<T>): Promise<T> => {
      watching.requests++
      if (watching.isUnavailable) return await away()
      if (watching.isFailing) throw new Error("the disk is full")
      const kept = await store.transaction(work)
      if (watching.isUnsure) throw new StoreError("unsure", "postgres://db", "its answer did not come")
      return kept
    },
  }
  return watching
}

/** Processes over one store and one clock, each with its own `UnitQuota`, and the errors of their background work. */
export async function openUnitQuota(bounds: Partial<UnitQuotaBounds> = {}) {
  const file = await tempStore()
  const store = watchedStore(file)
  const clock = stoppedClock(NOON)
  const failed: unknown[] = []
  const start = () => new UnitQuota(store, clock, { ...UNIT_QUOTA_BOUNDS, ...bounds }, error => void failed.push(error))
  const leased = async (subject: string, day = TODAY): Promise<number | null> =>
    (await file.one<{ leased: number }>("SELECT leased FROM units WHERE subject = $1 AND day = $2", [subject, day]))
      ?.leased ?? null
  return { store, clock, failed, start, leased, units: start() }
}

/** How many of so many requests for one unit each were admitted, one after the other. */
export async function takenOf(units: UnitQuota, subject: string, times: number, perDay: number): Promise<number> {
  let count = 0
  for (let at = 0; at < times; at++) if ((await units.take(subject, 1, perDay)).isTaken) count++
  return count
}

/** Resolves when all background work, such as a lease ahead of need, is done. */
export async function workDone(): Promise<void> {
  do await new Promise(resolve => setImmediate(resolve))
  while (await pendingSettled())
}

/** Whether an answer came at once, and was that units were taken. */
export const isTakenAtOnce = (answer: TakeUnitsResult | Promise<TakeUnitsResult>): boolean =>
  !(answer instanceof Promise) && answer.isTaken
