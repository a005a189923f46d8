import { logOf, type Running, startServer } from "./assemble.ts"
import { remedyOf } from "./cannot-start.ts"
import type { Settings } from "./config/settings.ts"
import { sharedLimits } from "./customers/quota/shared-limits.ts"
import { columnsIn } from "./http/metrics/columns.ts"
import type { SupervisorMessage } from "./workers/message.ts"
import type { World } from "./world.ts"
import type { Supervisor } from "./world-workers.ts"

/**
 * Serves as one of several workers until the supervisor asks to stop, or is gone: nobody would replace this worker or stop
 * it then. A start that fails is told to the supervisor, in words when an operator can mend it.
 */
export async function work(world: World, settings: Settings, supervisor: Supervisor): Promise<void> {
  const asked = supervisor.stopAsked()
  const begun = Promise.withResolvers<Begin>()
  const running = Promise.withResolvers<Running>()
  supervisor.hear(message => {
    if (message.kind === "begin") begun.resolve(message)
    else if (message.kind === "detail") world.detail.want(message.isWanted)
    else void running.promise.then(server => (message.kind === "reload" ? server.reloadLists() : server.readChanges()))
  })
  supervisor.tell({ kind: "asks" })
  const begin = await Promise.race([begun.promise, asked])
  if (typeof begin === "string") return
  const server = await started(world, settings, supervisor, begin)
  if (server === null) return
  running.resolve(server)
  world.onReload(server.reloadLists)
  const { address, baseUrl, port } = server
  supervisor.tell({ kind: "listens", address, baseUrl, port })
  logOf(world, settings, begin.seat)("info", "stopping", { asked_by: await asked })
  await server.stop()
}

type Begin = Extract<SupervisorMessage, { readonly kind: "begin" }>

/** The server; null: it cannot start, and the supervisor was told why. */
async function started(world: World, settings: Settings, supervisor: Supervisor, { seat, port }: Begin) {
  const { columns, rest } = columnsIn(supervisor.memory)
  const limits = sharedLimits(rest, seat, world.clock)
  try {
    return await startServer(world, settings, {
      seat,
      port,
      limits,
      columns,
      changed: () => supervisor.tell({ kind: "changed" }),
    })
  } catch (error) {
    const sentence = remedyOf(error)
    if (sentence === null) throw error
    supervisor.tell({ kind: "fails", sentence })
    return null
  }
}
