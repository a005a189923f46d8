import type { UsageEvent } from "../../customers/usage/measures.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import { callerOf, type Exchange } from "../exchange.ts"

/** Takes units, all or none, and gives them back. */
export type UnitCharge = {
  /** Throws, or rejects, when there are too few. */
  readonly charge: (units: number) => void | Promise<void>
  /** Gives back nothing where nothing was charged. */
  readonly refund: (units: number) => void | Promise<void>
}

/**
 * Charges units, does the work, and gives the units back when it fails. `charge` null: nothing limits them. Gives a promise only when
 * charging or the work does.
 */
export function charged<T>(charge: UnitCharge | null, units: number, work: () => T | Promise<T>): T | Promise<T> {
  if (charge === null || units === 0) return work()
  const charging = charge.charge(units)
  return charging instanceof Promise
    ? workOnceCharged(charging, charge, units, work)
    : workOrRefund(charge, units, work)
}

async function workOnceCharged<T>(
  charging: Promise<void>,
  charge: UnitCharge,
  units: number,
  work: () => T | Promise<T>,
): Promise<T> {
  await charging
  return await workOrRefund(charge, units, work)
}

function workOrRefund<T>(charge: UnitCharge, units: number, work: () => T | Promise<T>): T | Promise<T> {
  try {
    const done = work()
    return done instanceof Promise ? doneOrRefunded(done, charge, units) : done
  } catch (error) {
    const refunding = charge.refund(units)
    if (!(refunding instanceof Promise)) throw error
    return throwOnce(refunding, error)
  }
}

async function doneOrRefunded<T>(done: Promise<T>, charge: UnitCharge, units: number): Promise<T> {
  try {
    return await done
  } catch (error) {
    await charge.refund(units)
    throw error
  }
}

async function throwOnce(refunding: Promise<void>, error: unknown): Promise<never> {
  await refunding
  throw error
}

/** Charges the units of an admitted request, does the work, and records it. When the work fails, it costs nothing. */
export function metered<T>(
  { usage }: { readonly usage: Pick<UsageMeter, "record"> },
  exchange: Exchange,
  units: number,
  work: () => T | Promise<T>,
  eventOf: (done: T) => UsageEvent,
): T | Promise<T> {
  const { key, account } = callerOf(exchange)
  const { lease } = exchange
  const record = (done: T): T => {
    usage.record(account.id, key, eventOf(done), lease?.chargedDay)
    return done
  }
  return charged(lease, units, () => {
    const done = work()
    return done instanceof Promise ? done.then(record) : record(done)
  })
}
