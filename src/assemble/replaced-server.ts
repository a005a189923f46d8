import { StartupError } from "../base/errors.ts"
import { identifyServer } from "../doctor/port.ts"
import { assertNoOtherHolder } from "../process/metrics-listener.ts"
import type { ControlSocketLocation, PreviousServer } from "../process/takeover.ts"
import { findPreviousServer } from "../process/takeover.ts"
import type { AppContext } from "./context.ts"
import { metricsAddress } from "./metrics.ts"
import { VERSION } from "./program.ts"

/** How long the running server has to tell its version. */
const ASK_MS = 5000

/**
 * The running server that `--replace` takes over from; null: none runs. Rejects with a `StartupError` that tells its version and this one
 * if it cannot share its port.
 */
export async function findReplacedServer(
  context: AppContext,
  location: ControlSocketLocation,
): Promise<PreviousServer | null> {
  let previous: PreviousServer | null
  try {
    previous = await findPreviousServer(context.system, location)
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    const version = await runningVersion(context)
    throw version === null
      ? error
      : new StartupError(`${error.message} It has version ${version}, and this is ${VERSION}.`)
  }
  if (previous !== null) {
    // Before this one listens beside it.
    const metrics = metricsAddress(context.settings)
    if (metrics !== null) assertNoOtherHolder(metrics, location.port)
    return previous
  }
  const version = await runningVersion(context)
  if (version === null) return null
  throw new StartupError(
    `The server on port ${location.port} has version ${version} and does not hand over to this one (${VERSION}): it has another data directory, or its version cannot. Stop it, and start this one.`,
  )
}

/** The version of the server on the port; null: nothing answers there, or something else. */
async function runningVersion({ system, settings }: AppContext): Promise<string | null> {
  const { MAILKIND_HOST: host, MAILKIND_PORT: port } = settings
  const timeout = new AbortController()
  const cancel = system.setTimer(ASK_MS, () => timeout.abort())
  try {
    const owner = await identifyServer({ host, port }, system.fetchUrl, timeout.signal)
    return owner.kind === "ours" && owner.version !== "" ? owner.version : null
  } finally {
    cancel()
  }
}
