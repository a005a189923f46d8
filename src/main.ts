import { agentOf, checkOver, logOf, newRequestIds, startServer, VERSION } from "./assemble.ts"
import { backupsOf } from "./assemble-backup.ts"
import { deepAtWork } from "./assemble-deep.ts"
import { doctorOf } from "./assemble-doctor.ts"
import { commandLists, packInPlace } from "./assemble-lists.ts"
import { OFFLINE, outsideAsked } from "./assemble-outside.ts"
import { openStore, storeToolsOf } from "./assemble-store.ts"
import { inventoryOf, SHOWN_SETTINGS } from "./assemble-supply.ts"
import { Broken } from "./base/assert.ts"
import { remedyOf } from "./cannot-start.ts"
import { NO_CORRECTIONS } from "./check/check.ts"
import { openPack } from "./check/lists/domain-set.ts"
import type { KnownLists } from "./check/lists.ts"
import { CommandFailure, type Output } from "./cli/output.ts"
import { runCommand, type Tools } from "./cli/program.ts"
import { announce, type ServeOptions } from "./cli/serve.ts"
import { readSettings, type Settings } from "./config/settings.ts"
import { listenersOfEach, predecessor, SUCCESSOR, successor } from "./hand-over.ts"
import { refreshing, refreshLists, rollBackLists } from "./refreshing.ts"
import { supervise } from "./supervisor.ts"
import { work } from "./worker.ts"
import { realWorld, type World } from "./world.ts"
import { detailWords } from "./world-detail.ts"

/** What the commands are given, over the real world. Settings are read when a command needs one. */
function toolsOf(world: World): Tools {
  const output: Output = { line: text => world.out(`${text}\n`), aside: text => world.err(`${text}\n`) }
  return {
    output,
    version: VERSION,
    serve: options => serve(world, output, options),
    checker: async isOffline => {
      const settings = settingsOf(world)
      const { lists } = await knownInPlace(world, settings)
      const asked = isOffline ? OFFLINE : outsideAsked(world, settings)
      const { deep } = deepAtWork(world, settings, asked, null, logOf(world, settings), agentOf(settings))
      return {
        check: checkOver(world, () => lists, asked.outside, deep, NO_CORRECTIONS),
        testDomain: settings.MAILKIND_TEST_DOMAIN,
        requestId: newRequestIds(world),
      }
    },
    classify: world,
    withCustomers: async work => {
      const settings = settingsOf(world)
      const store = await openStore(world, settings, logOf(world, settings))
      const changes = { store, clock: world.clock, hear: () => undefined }
      await work({ changes, random: world.random, defaultTier: settings.MAILKIND_DEFAULT_TIER }).finally(store.close)
    },
    lists: {
      known: () => knownInPlace(world, settingsOf(world)),
      open: async path => {
        if (path === null) return await packInPlace(world, settingsOf(world))
        const bytes = await world.files.read(path)
        return bytes === null || bytes.length === 0 ? null : openPack(bytes)
      },
      refresh: only => refreshLists(world, settingsOf(world), only),
      rollBack: () => rollBackLists(world, settingsOf(world)),
      checkout: world.checkout,
    },
    inventory: () => inventoryOf(world),
    backups: backupsOf(world, () => settingsOf(world)),
    store: storeToolsOf(world, () => settingsOf(world)),
    doctor: doctorOf(world),
    settings: SHOWN_SETTINGS,
  }
}

const knownInPlace = (world: World, settings: Settings): Promise<KnownLists> =>
  commandLists(world, settings, logOf(world, settings))

/** Serves until the process is asked to stop; what is in flight is answered first. */
async function serve(world: World, output: Output, { workers, worker, replace }: ServeOptions): Promise<void> {
  const settings = settingsOf(world)
  if (worker) {
    const supervisor = world.others.supervisor()
    if (supervisor === null) throw new CommandFailure("Workers are started by `serve --workers N` alone.", 2)
    return await work(world, settings, supervisor)
  }
  const count = workers === "auto" ? world.others.cores() : workers
  if (count > 1) return await supervise(world, settings, count, replace, output)
  await serveAlone(world, settings, output, replace)
}

async function serveAlone(world: World, settings: Settings, output: Output, replace: boolean): Promise<void> {
  const log = logOf(world, settings)
  const stopAsked = world.stopAsked()
  const before = replace ? await predecessor(world, settings) : null
  const listenersCount = listenersOfEach(before, 1)
  const running = await startServer(world, settings, before === null ? "alone" : { listenersCount })
  world.onReload(running.reloadLists)
  world.detail.follow(isWanted => log("info", detailWords(isWanted)))
  const endRefreshing = refreshing(world, settings, log)
  const firstAccount = await running.firstAccount()
  const after = successor(
    world,
    settings,
    {
      share: async () => (world.listeners.share(running.port) ? listenersCount : null),
      keep: () => undefined,
    },
    before?.replaced(log, {
      listenersCount: () => listenersCount,
      steer: async (position, count) => world.listeners.steer(running.port, position, count),
    }) ?? Promise.resolve(),
    log,
  )
  // Who reads that it listens can replace it, too.
  announce(output, VERSION, running, firstAccount, 1)
  const askedBy = await Promise.race([stopAsked, after.asked])
  log("info", "stopping", { asked_by: typeof askedBy === "string" ? askedBy : SUCCESSOR })
  endRefreshing()
  // Who is told to stop meanwhile, stops.
  if (typeof askedBy !== "string") await Promise.race([running.leave(askedBy), stopAsked])
  await running.stop()
  after.end()
}

function settingsOf(world: World): Settings {
  const read = readSettings(world.environment)
  if (read.kind === "read") return read.settings
  throw new CommandFailure(["the settings are faulty:", ...read.faults].join("\n  "), 2)
}

/** Tells an operator in words what an operator can mend; the rest is our fault and shows where. */
function failed(world: World, error: unknown): number {
  // Whoever read our output has enough of it, as in `mailkind help settings | head`.
  if (error instanceof Error && "code" in error && error.code === "EPIPE") process.exit(1)
  const remedy = remedyOf(error)
  world.err(remedy === null ? `${Bun.inspect(error)}\n` : `mailkind: ${remedy}\n`)
  return 1
}

// No top-level await: the executable's bytecode does not have it.
const world = realWorld()
// A wait that nothing can end any more would pass for success.
process.once("beforeExit", () => process.exit(failed(world, new Broken("nothing is left to be waited for"))))
runCommand(toolsOf(world), process.argv.slice(2)).then(
  code => world.written().then(() => process.exit(code)),
  error => process.exit(failed(world, error)),
)
