import { StartupError } from "../base/errors.ts"
import { CommandError, type Output } from "../cli/output.ts"
import { printStart, type ServeOptions } from "../cli/serve.ts"
import { warnOfUnprotectedMail } from "../customers/mails.ts"
import { dataDirectoryAccess } from "../doctor/directory.ts"
import { delayStop, reportReady } from "../process/service-state.ts"
import { acceptTakeovers, NEXT_SERVER, socketsPerProcess } from "../process/takeover.ts"
import { verboseMessage } from "../system/system.ts"
import { checkBackupDirectory, startSchedules } from "./backups.ts"
import type { AppContext } from "./context.ts"
import { VERSION } from "./program.ts"
import { findReplacedServer } from "./replaced-server.ts"
import { workerCountOf } from "./serve-mode.ts"
import { startServer } from "./server.ts"
import { createReloads, reloadSettings, type SettingsSource } from "./settings.ts"
import { runWorker, supervise } from "./workers.ts"

/** The command `serve`: serves in this process, as a worker, or as the supervisor of workers, until a signal asks it to stop. */
export async function serve(
  context: AppContext,
  source: SettingsSource,
  output: Output,
  { worker, replace }: ServeOptions,
): Promise<void> {
  const { system, settings } = context
  if (worker) {
    const supervisor = system.processes.supervisorLink()
    if (supervisor === null) throw new CommandError("Start workers with `serve --workers N`.", 2)
    return await runWorker(context, supervisor)
  }
  checkDataDirectory(context)
  checkBackupDirectory(settings)
  warnOfUnprotectedMail(context)
  const workerCount = workerCountOf(context)
  if (workerCount > 1) return await supervise(context, source, workerCount, replace, output)
  await serveSingleProcess(context, source, output, replace)
}

/** Refuses a data directory in which anybody can write, and warns of one that a group can write or others can read. */
function checkDataDirectory({ settings, log }: AppContext): void {
  const access = dataDirectoryAccess(settings.MAILKIND_DATA_DIR)
  if (access.kind === "refused")
    throw new StartupError(`The data directory is not safe: ${access.seen} ${access.remedy}`)
  if (access.kind === "warned")
    log("warn", "others can use the data directory", { found: access.seen, remedy: access.remedy })
}

async function serveSingleProcess(
  context: AppContext,
  source: SettingsSource,
  output: Output,
  replace: boolean,
): Promise<void> {
  const { system, settings, log } = context
  const stopSignal = system.stopSignal()
  const reloads = createReloads(system)
  system.verbose.toggleOnSignal(isOn => log("info", verboseMessage(isOn)))
  const location = { dataDirectory: settings.MAILKIND_DATA_DIR, port: settings.MAILKIND_PORT }
  const previous = replace ? await findReplacedServer(context, location) : null
  const socketCount = socketsPerProcess(previous, 1)
  const server = await startServer(context, previous === null ? "alone" : { socketCount }, stopSignal)
  if (server === null) return
  reloads.handle(() => {
    const reload = reloadSettings(source, log)
    if (reload !== null) server.takeSettings(reload.settings)
    void server.reloadLists()
  })
  const stopSchedules = startSchedules(context)
  const firstAccount = await server.ensureBootstrapAccount()
  await previous?.assertWaiting()
  const routing = {
    socketCount: () => socketCount,
    route: async (firstIndex: number, count: number) => system.reusePort.route(server.port, firstIndex, count),
  }
  const hooks = {
    sharePort: async () => (system.reusePort.enable(server.port) ? socketCount : null),
    onAbort: () => undefined,
  }
  const previousEnded = previous?.takeOver(log, routing) ?? Promise.resolve()
  const takeovers = acceptTakeovers(system, location, hooks, previousEnded, log)
  // Printed last: whoever reads that the server listens may replace it at once.
  printStart(output, VERSION, server, firstAccount, 1, settings.MAILKIND_FIRST_KEY !== null)
  reportReady(system)
  const stopCause = await Promise.race([stopSignal, takeovers.drainRequested])
  log("info", "stopping", { asked_by: typeof stopCause === "string" ? stopCause : NEXT_SERVER })
  system.serviceManager.notify("STOPPING=1")
  stopSchedules()
  // A stop signal ends the drain early.
  if (typeof stopCause !== "string") await Promise.race([server.drainForTakeover(stopCause), stopSignal])
  else await delayStop(context, stopCause, server.announceStop)
  const atOnce = system.stopSignal().then(asked_by => {
    log("warn", "stopping at once", { asked_by })
    throw new CommandError("A second signal ended the server at once.")
  })
  await Promise.race([server.stop(), atOnce])
  takeovers.stop()
}
