import { logOf, type Running, startServer } from "./assemble.ts"
import { remedyOf } from "./cannot-start.ts"
import type { Settings } from "./config/settings.ts"
import { nodeIdIn, sharedLimits } from "./customers/quota/shared-limits.ts"
import { SUCCESSOR } from "./hand-over.ts"
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
  const [leaving, mayClose] = [Promise.withResolvers<typeof SUCCESSOR>(), Promise.withResolvers<void>()]
  const steer = ({ port }: Running, { position, count }: Steer): void =>
    supervisor.tell({ kind: "steered", isDone: world.listeners.steer(port, position, count) })
  supervisor.hear(message => {
    if (message.kind === "begin") begun.resolve(message)
    else if (message.kind === "detail") world.detail.want(message.isWanted)
    else if (message.kind === "leave") leaving.resolve(SUCCESSOR)
    else if (message.kind === "close") mayClose.resolve()
    else if (message.kind === "steer") void running.promise.then(server => steer(server, message))
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
  const askedBy = await Promise.race([asked, leaving.promise])
  logOf(world, settings, begin.seat)("info", "stopping", { asked_by: askedBy })
  const closed = (): void => supervisor.tell({ kind: "closed" })
  if (askedBy === SUCCESSOR) await Promise.race([server.leave({ mayClose: mayClose.promise, closed }), asked])
  await server.stop()
}

type Begin = Extract<SupervisorMessage, { readonly kind: "begin" }>
type Steer = Extract<SupervisorMessage, { readonly kind: "steer" }>

/** The server; null: it cannot start, and the supervisor was told why. */
async function started(world: World, settings: Settings, supervisor: Supervisor, begin: Begin) {
  const { seat, port, listenersCount } = begin
  const { columns, rest } = columnsIn(supervisor.memory)
  const limits = sharedLimits(rest, seat, world.clock)
  try {
    return await startServer(world, settings, {
      seat,
      port,
      listenersCount,
      limits,
      nodeId: nodeIdIn(rest),
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
