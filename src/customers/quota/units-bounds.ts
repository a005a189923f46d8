import type { LeaseBounds } from "./lease.ts"

/** How much is held. */
export type UnitsBounds = LeaseBounds & {
  /** How many subjects have units in hand; beyond, those go back that were not used for longest. */
  readonly subjectsMax: number
  /** Whether what runs low waits for the next `tidy`, to be leased together, as long as half of what is low is left. */
  readonly gathersLow: boolean
}

/** Bounds that hold about 35 MB when full. */
export const UNITS_BOUNDS: UnitsBounds = {
  subjectsMax: 100_000,
  blockMax: 100_000,
  blockMs: 1000,
  idleMs: 2000,
  refusalMs: 1000,
  gathersLow: false,
}

/** The same for a store that several hosts share: it is asked less often, for more. */
export const SHARED_UNITS_BOUNDS: UnitsBounds = { ...UNITS_BOUNDS, blockMs: 4000, gathersLow: true }
