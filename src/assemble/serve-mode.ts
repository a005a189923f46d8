import type { DnsSuspicionReason } from "../check/dns/resolver/circuit-breaker.ts"
import type { SharedCallerState } from "../customers/customers.ts"
import type { AppContext } from "./context.ts"

/** How a server listens: alone on its port, beside the server that it replaces, or as one of several workers. */
export type ServeMode = "alone" | TakeoverMode | WorkerMode

/** The number of sockets that a process opens on a shared port. */
type TakeoverMode = { readonly socketCount: number }

/** What a worker shares with the others, and its index among them. */
type WorkerMode = SharedCallerState &
  TakeoverMode & {
    readonly workerIndex: number
    readonly port: number
    /** What is left of the time to wait for the database, in milliseconds; null: all of it. */
    readonly databaseWaitMs: number | null
    /** The metric counters of all workers, by index. */
    readonly counterShards: readonly Float64Array[]
    /** Tells the other workers that this one has found the DNS servers dead. */
    readonly shareDnsDead: (reason: DnsSuspicionReason) => void
  }

/** How many processes a server has. */
export const workerCountOf = ({ settings: { MAILKIND_WORKERS: workers }, system }: AppContext): number =>
  workers === "auto" ? system.processes.availableCores() : workers

/** What each process of a server may have of the memory that they share: by it caches are bounded and garbage is collected. */
export const processMemoryBytes = (context: AppContext): number =>
  context.system.memory.limitBytes() / workerCountOf(context)

/** Whether it is one of several workers. */
export const isWorker = (mode: ServeMode): mode is WorkerMode => typeof mode === "object" && "workerIndex" in mode
