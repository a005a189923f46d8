import type { PipedProcess } from "../../../base/streams.ts"
import type { CheckCommandDeps } from "../../check.ts"
import { serveBlocks, type WorkerDeps } from "./block-worker.ts"

/** So many pieces may lie in a pipe. */
const PIECES_MAX = 4

/**
 * A worker in this process: its start and the compilation of its code are paid for already, where each further process takes two seconds of
 * processor time. Between pieces of results the event loop handles what the other workers report.
 */
export function startWorkerHere(
  deps: Omit<WorkerDeps, "openCheck"> & { readonly nextTick: (work: () => void) => void },
  checker: CheckCommandDeps,
): PipedProcess {
  const tasks = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: PIECES_MAX })
  const reports = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: PIECES_MAX })
  const [input, output] = [tasks.writable.getWriter(), reports.writable.getWriter()]
  const exited = Promise.withResolvers<{ exitCode: number | null; killedBy: string | null }>()
  const stdout = {
    write: async (bytes: string | Uint8Array) => {
      await output.write(typeof bytes === "string" ? Buffer.from(bytes) : bytes)
      await new Promise<void>(resolve => deps.nextTick(resolve))
    },
    close: async () => undefined,
  }
  const openSource = async () => ({ byteCount: null, chunks: tasks.readable })
  const streams = { ...deps.streams, openSource, stdout }
  // It reports a failure itself, unless it was killed and nobody reads what it has left to say.
  serveBlocks({ ...deps, streams, openCheck: async () => checker }).catch(() => undefined)
  return {
    write: bytes => input.write(bytes),
    chunks: reports.readable,
    exited: exited.promise,
    kill: () => {
      // Whoever kills it reads nothing more.
      input.close().catch(() => undefined)
      output.close().catch(() => undefined)
      exited.resolve({ exitCode: null, killedBy: "SIGKILL" })
    },
  }
}
