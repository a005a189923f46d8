import type { DnsSuspicionReason } from "../check/dns/resolver/circuit-breaker.ts"
import type { SharedCallerState } from "../customers/customers.ts"
import type { OpenStore } from "../customers/store/core/store.ts"
import { processConnectionsMax } from "../customers/store/postgres/clients.ts"
import { diagnoseDescriptors } from "../doctor/descriptors.ts"
import { LOAD_LIMITS } from "../http/admission/load-shedder.ts"
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
    /** Tells the other workers that the mail server replies to this one again. */
    readonly shareMailReply: () => void
  }

/** How many processes a server has. */
export const workerCountOf = ({ settings: { MAILKIND_WORKERS: workers }, system }: AppContext): number =>
  workers === "auto" ? system.processes.availableCores() : workers

/** What each process of a server may have of the memory that they share: by it caches are bounded and garbage is collected. */
export const processMemoryBytes = (context: AppContext): number =>
  context.system.memory.limitBytes() / workerCountOf(context)

/** Whether it is one of several workers. */
export const isWorker = (mode: ServeMode): mode is WorkerMode => typeof mode === "object" && "workerIndex" in mode

/** Logs at the start what this host opens at most with so many processes, and warns if a process may open too little. */
export function logResources(context: AppContext, processes: number, store: OpenStore): void {
  logConnections(context, processes, store)
  const { verdict, seen, remedy } = diagnoseServerDescriptors(context)
  if (verdict === "warning") context.log("warn", "the limit of open files is low", { why: seen, remedy })
}

/** Compares how many files and sockets a process may open, by default this one, with what a server with these settings may need. */
export const diagnoseServerDescriptors = (
  { system, settings }: AppContext,
  max = system.processStats().descriptorsMax,
  who?: string,
) => {
  const databaseConnections = settings.MAILKIND_DATABASE_URL === null ? 0 : processConnectionsMax(true)
  return diagnoseDescriptors(max, { inFlightMax: LOAD_LIMITS.inFlightMax, databaseConnections }, who)
}

/** Logs how many connections to PostgreSQL this host opens at most, with so many processes. */
function logConnections({ settings, log }: AppContext, processes: number, { isPooled }: OpenStore): void {
  if (settings.MAILKIND_DATABASE_URL === null) return
  const wantsNotifications = !isPooled || settings.MAILKIND_DATABASE_LISTEN_URL !== null
  log("info", "the connections to the database", {
    processes,
    connections_max: processes * processConnectionsMax(wantsNotifications),
    is_pooled: isPooled,
    wants_notifications: wantsNotifications,
  })
}
