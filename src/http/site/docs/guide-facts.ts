import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { Inventory } from "../../../licences/inventory.ts"

/** One setting as people read it: its default in words, and what it means. */
export type DocumentedSetting = {
  readonly name: string
  readonly default: string
  readonly advanced: boolean
  readonly says: string
}

/** One thing that `doctor` looks at: its name, and what holds when it is well. */
export type DocumentedCheck = { readonly name: string; readonly description: string }

/** The files that deploy a server, as they are in the sources. */
export type DeployFiles = Readonly<
  Record<"unit" | "environment" | "dockerfile" | "nginx" | "caddy" | "haproxy" | "pgbouncer" | "alerts", string>
>

/** What the guide needs to know about this server. */
export type GuideFacts = {
  /** How the program is called in a shell of the reader: the executable, or the command of a checkout. */
  readonly command: string
  /** The network budget of a check. */
  readonly checkTimeoutMs: number
  /** The limits in force, by the tier's number; the same array until they change. */
  readonly tiers: () => readonly TierLimits[]
  /** Every setting with its default; not what it is set to. */
  readonly settings: readonly DocumentedSetting[]
  /** Everything that `doctor` looks at. */
  readonly examinations: readonly DocumentedCheck[]
  readonly deployFiles: () => Promise<DeployFiles>
  /** What the program is made of. */
  readonly inventory: () => Promise<Inventory>
}
