import { createDeepChecksService } from "./assemble/check/deep-checks.ts"
import { openActivePack, openListsForCommand } from "./assemble/check/lists.ts"
import { createNetworkService, OFFLINE_NETWORK } from "./assemble/check/network.ts"
import { createBackupDeps, createStoreCommandDeps, openStore } from "./assemble/customers/store.ts"
import { createDoctor } from "./assemble/doctor.ts"
import { DOCUMENTED_SETTINGS, loadInventory } from "./assemble/licences.ts"
import {
  assembleCheck,
  createLog,
  formatUserAgent,
  requestIdGenerator,
  startServer,
  VERSION,
} from "./assemble/server.ts"
import { runWorker, supervise } from "./assemble/workers.ts"
import { InvariantError } from "./base/errors.ts"
import { NO_CORRECTIONS } from "./check/check.ts"
import type { LoadedLists } from "./check/domain-lookup.ts"
import { openPack } from "./check/lists/pack/pack.ts"
import { CommandError, type Output } from "./cli/output.ts"
import { type CommandDeps, runCommand } from "./cli/program.ts"
import { printStart, type ServeOptions } from "./cli/serve.ts"
import { parseSettings, type Settings } from "./config/settings.ts"
import { refreshLists, rollBackLists, startRefreshScheduler } from "./process/refresh-scheduler.ts"
import { operatorMessage } from "./process/startup-error.ts"
import { acceptTakeover, findPreviousServer, NEXT_SERVER, socketsPerProcess } from "./process/takeover.ts"
import { createSystem, type System, verboseMessage } from "./system/system.ts"

/** What the commands are given, over the real world. Settings are read when a command needs one. */
function createCommandDeps(world: System): CommandDeps {
  const output: Output = {
    line: text => world.writeStdout(`${text}\n`),
    stderrLine: text => world.writeStderr(`${text}\n`),
  }
  return {
    output,
    version: VERSION,
    serve: options => serve(world, output, options),
    openCheck: async isOffline => {
      const settings = requireSettings(world)
      const { lists } = await loadLists(world, settings)
      const asked = isOffline ? OFFLINE_NETWORK : createNetworkService(world, settings)
      const { deepChecks } = createDeepChecksService(
        world,
        settings,
        asked,
        null,
        createLog(world, settings),
        formatUserAgent(settings),
      )
      return {
        check: assembleCheck(world, () => lists, asked.networkEvidence, deepChecks, NO_CORRECTIONS),
        testDomain: settings.MAILKIND_TEST_DOMAIN,
        requestId: requestIdGenerator(world),
      }
    },
    classify: world,
    withCustomers: async work => {
      const settings = requireSettings(world)
      const store = await openStore(world, settings, createLog(world, settings))
      const changes = { store, clock: world.clock, notify: () => undefined }
      await work({ changes, random: world.random, defaultTier: settings.MAILKIND_DEFAULT_TIER }).finally(store.close)
    },
    lists: {
      loadLists: () => loadLists(world, requireSettings(world)),
      openPack: async path => {
        if (path === null) return await openActivePack(world, requireSettings(world))
        const bytes = await world.files.read(path)
        return bytes === null || bytes.length === 0 ? null : openPack(bytes)
      },
      refresh: only => refreshLists(world, requireSettings(world), only),
      rollBack: () => rollBackLists(world, requireSettings(world)),
      checkout: world.checkout,
    },
    inventory: () => loadInventory(world),
    backups: createBackupDeps(world, () => requireSettings(world)),
    store: createStoreCommandDeps(world, () => requireSettings(world)),
    doctor: createDoctor(world),
    settings: DOCUMENTED_SETTINGS,
  }
}

const loadLists = (world: System, settings: Settings): Promise<LoadedLists> =>
  openListsForCommand(world, settings, createLog(world, settings))

/** Serves until the process is asked to stop; what is in flight is answered first. */
async function serve(world: System, output: Output, { workers, worker, replace }: ServeOptions): Promise<void> {
  const settings = requireSettings(world)
  if (worker) {
    const supervisor = world.processes.supervisorLink()
    if (supervisor === null) throw new CommandError("Workers are started by `serve --workers N` alone.", 2)
    return await runWorker(world, settings, supervisor)
  }
  const count = workers === "auto" ? world.processes.availableCores() : workers
  if (count > 1) return await supervise(world, settings, count, replace, output)
  await serveSingleProcess(world, settings, output, replace)
}

async function serveSingleProcess(world: System, settings: Settings, output: Output, replace: boolean): Promise<void> {
  const log = createLog(world, settings)
  const stopAsked = world.stopSignal()
  const before = replace ? await findPreviousServer(world, settings) : null
  const socketCount = socketsPerProcess(before, 1)
  const running = await startServer(world, settings, before === null ? "alone" : { socketCount })
  world.onReload(running.reloadLists)
  world.verbose.toggleOnSignal(isWanted => log("info", verboseMessage(isWanted)))
  const endRefreshing = startRefreshScheduler(world, settings, log)
  const firstAccount = await running.ensureBootstrapAccount()
  const after = acceptTakeover(
    world,
    settings,
    {
      sharePort: async () => (world.reusePort.enable(running.port) ? socketCount : null),
      onAbort: () => undefined,
    },
    before?.takeOver(log, {
      socketCount: () => socketCount,
      route: async (position, count) => world.reusePort.route(running.port, position, count),
    }) ?? Promise.resolve(),
    log,
  )
  // Who reads that it listens can replace it, too.
  printStart(output, VERSION, running, firstAccount, 1)
  const askedBy = await Promise.race([stopAsked, after.asked])
  log("info", "stopping", { asked_by: typeof askedBy === "string" ? askedBy : NEXT_SERVER })
  endRefreshing()
  // Who is told to stop meanwhile, stops.
  if (typeof askedBy !== "string") await Promise.race([running.drainForTakeover(askedBy), stopAsked])
  await running.stop()
  after.end()
}

function requireSettings(world: System): Settings {
  const read = parseSettings(world.environment)
  if (read.kind === "read") return read.settings
  throw new CommandError(["the settings are faulty:", ...read.faults].join("\n  "), 2)
}

/** Tells an operator in words what an operator can mend; the rest is our fault and shows where. */
function reportFatalError(world: System, error: unknown): number {
  // Whoever read our output has enough of it, as in `mailkind help settings | head`.
  if (error instanceof Error && "code" in error && error.code === "EPIPE") process.exit(1)
  const remedy = operatorMessage(error)
  world.writeStderr(remedy === null ? `${Bun.inspect(error)}\n` : `mailkind: ${remedy}\n`)
  return 1
}

// No top-level await: the executable's bytecode does not have it.
const system = createSystem()
// A wait that nothing can end any more would pass for success.
process.once("beforeExit", () =>
  process.exit(reportFatalError(system, new InvariantError("nothing is left to be waited for"))),
)
runCommand(createCommandDeps(system), process.argv.slice(2)).then(
  code => system.stdoutFlushed().then(() => process.exit(code)),
  error => process.exit(reportFatalError(system, error)),
)
