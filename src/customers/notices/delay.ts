import type { Random } from "../../base/clock.ts"

/** How delays grow: from `firstMs`, twice as long each time, up to `msMax`. */
export type Growth = { readonly firstMs: number; readonly msMax: number }

/**
 * The delay after so many failures in a row, at least one: up to a quarter shorter than it may be, by chance, so that what
 * failed at one moment is not tried again at one moment.
 */
export function delayMs({ firstMs, msMax }: Growth, failureCount: number, random: Random): number {
  const wholeMs = Math.min(firstMs * 2 ** (failureCount - 1), msMax)
  const [byte = 0] = random(1)
  return Math.round(wholeMs * (1 - byte / 1024))
}
