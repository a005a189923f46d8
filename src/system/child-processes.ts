import { closeSync, openSync, unlinkSync, writeSync } from "node:fs"
import { availableParallelism, constants, setPriority } from "node:os"
import { join } from "node:path"
import { isSystemError, withPath } from "../base/errors.ts"
import { makeFolder } from "../base/file-owner.ts"
import type { PipedProcess } from "../base/streams.ts"
import type { DnsSuspicionReason } from "../check/dns/resolver/circuit-breaker.ts"
import type { Observation } from "../customers/store/poll/database-poll.ts"

/** A message from a worker to its supervisor. */
export type WorkerMessage =
  /** The worker can receive messages and waits for `start`. */
  | { readonly kind: "ready" }
  /** Its event loop runs. It sends this every `BEAT_MS` from `ready` on. */
  | { readonly kind: "beat" }
  /** It accepts requests on the port. */
  | { readonly kind: "listening"; readonly port: number; readonly address: string; readonly baseUrl: string }
  /** It cannot start and ends. The message tells the operator why and what to do. */
  | { readonly kind: "failed"; readonly message: string }
  /** It wrote to the change log. */
  | { readonly kind: "changed" }
  /** It asked the database for all workers, and found this; null: it could not ask. */
  | { readonly kind: "observed"; readonly observation: Observation | null }
  /** It has found the DNS servers dead. */
  | { readonly kind: "dns_dead"; readonly reason: DnsSuspicionReason }
  /** The mail server replies to it again: an outage is over. */
  | { readonly kind: "mail_replies" }
  /** The answer to `route`. */
  | { readonly kind: "routed"; readonly isRouted: boolean }
  /** It drains and has closed its listening sockets. */
  | { readonly kind: "closed" }

/** A message from the supervisor to a worker. */
export type SupervisorMessage =
  /**
   * Start serving: the index of the worker, the port (0 picks a free one), the number of sockets to listen with, and what is left of the
   * time to wait for the database (null: all of it).
   */
  | {
      readonly kind: "start"
      readonly workerIndex: number
      readonly port: number
      readonly socketCount: number
      readonly databaseWaitMs: number | null
    }
  /** Load the lists again, and take these texts of settings; null: those of before. */
  | { readonly kind: "reload"; readonly settings: Readonly<Record<string, string>> | null }
  /** Turn verbose logging on or off. */
  | { readonly kind: "verbose"; readonly isOn: boolean }
  /** Another worker asked the database for all workers, and found this; null: it could not ask. */
  | { readonly kind: "observed"; readonly observation: Observation | null }
  /** Another worker has found the DNS servers dead. */
  | { readonly kind: "dns_dead"; readonly reason: DnsSuspicionReason }
  /** The mail server replies to another worker again: an outage is over. */
  | { readonly kind: "mail_replies" }
  /** Another worker wrote to the change log: read it. */
  | { readonly kind: "poll_changes" }
  /** Route new connections to `count` sockets on the port, from `firstIndex` on. */
  | { readonly kind: "route"; readonly firstIndex: number; readonly count: number }
  /** The server stops soon: say so to whoever asks about its health. */
  | { readonly kind: "announce_stop" }
  /** Another server takes over: drain. */
  | { readonly kind: "drain" }
  /** No new connection can be on its way: close the listening sockets. */
  | { readonly kind: "close" }

/** How a worker ended. */
export type WorkerExit = {
  /** `null` if it was killed. */
  readonly exitCode: number | null
  /** The signal that killed it, such as `SIGKILL`; `null` if it ended by itself. */
  readonly killedBy: string | null
}

/** A worker process. None of the functions throws when the worker has ended. */
export type WorkerProcess = {
  readonly pid: number
  readonly send: (message: SupervisorMessage) => void
  /** Asks it to finish the requests in flight and to end. */
  readonly stop: () => void
  readonly kill: () => void
}

/** Starts a worker. It calls neither function before it returns, and `onExit` exactly once. Throws if the worker cannot be started. */
export type StartWorker = (
  onMessage: (message: WorkerMessage) => void,
  onExit: (exit: WorkerExit) => void,
) => WorkerProcess

/** The other processes of this server. */
export type Processes = {
  /** The number of processes that can run in parallel. */
  readonly availableCores: () => number
  /**
   * Creates memory with these initial bytes that this process shares with its workers. It is an unlinked file in the folder,
   * which disappears with the last process. Rejects if the file cannot be written.
   */
  readonly createSharedMemory: (folder: string, bytes: Uint8Array) => Promise<SharedMemory>
  /** Returns a function that starts workers with these arguments and the shared memory. */
  readonly workerStarter: (args: readonly string[], memory: SharedMemory) => StartWorker
  /**
   * Runs this program with these arguments and low priority, and resolves with what it printed; `null` means that it was killed,
   * by the system or after `timeoutMs`.
   */
  readonly run: (args: readonly string[], timeoutMs: number) => Promise<CommandResult | null>
  /** Starts this program with these arguments as a worker on two pipes. Its standard error is ours. */
  readonly startPiped: (args: readonly string[]) => PipedProcess
  /** The id of this process. */
  readonly pid: number
  /** Whether a process with this id runs on this host. */
  readonly isRunning: (pid: number) => boolean
  /** The link to the supervisor; `null` if this process is not a worker. The worker then ignores Ctrl-C, which the supervisor handles. */
  readonly supervisorLink: () => SupervisorLink | null
}

/** The result of a command. */
export type CommandResult = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

/** Memory that several processes share. */
type SharedMemory = {
  readonly bytes: Uint8Array
  /** The file descriptor. */
  readonly descriptor: number
}

/** The supervisor, as seen by a worker. */
export type SupervisorLink = {
  readonly memory: Uint8Array
  readonly send: (message: WorkerMessage) => void
  /** Sets the handler of messages. The worker sends `ready` afterwards. */
  readonly onMessage: (handler: (message: SupervisorMessage) => void) => void
  /** Resolves with why this worker must stop: the name of a signal, or the end of the supervisor. */
  readonly stopSignal: () => Promise<string>
}

/** The file descriptor of the shared memory in a worker, after standard input, output and error. */
const MEMORY_DESCRIPTOR = 3

/** The child processes and workers of the real system. They inherit `process.env` as it is when they start. */
export const systemProcesses: Processes = {
  availableCores: availableParallelism,
  createSharedMemory: async (folder, bytes) => {
    const path = join(folder, `workers.${process.pid}.${Bun.randomUUIDv7()}`)
    await makeFolder(folder)
    const descriptor = openSync(path, "wx+", 0o600)
    try {
      // Written rather than only extended: a full disk must fail here, not when a page is first touched.
      for (let offset = 0; offset < bytes.length; )
        offset += writeSync(descriptor, bytes, offset, bytes.length - offset)
      return { bytes: Bun.mmap(path), descriptor }
    } catch (error) {
      closeSync(descriptor)
      throw withPath(error, path)
    } finally {
      unlinkSync(path)
    }
  },
  workerStarter: (args, memory) => (onMessage, onExit) =>
    startWorkerProcess(args, memory.descriptor, onMessage, onExit),
  run: runOwnCommand,
  startPiped,
  pid: process.pid,
  isRunning: pid => {
    try {
      return process.kill(pid, 0)
    } catch (error) {
      // EPERM: it runs as another user.
      return isSystemError(error, "EPERM")
    }
  },
  supervisorLink: connectToSupervisor,
}

/** Requests have priority. Best effort: if the system refuses, the process runs with normal priority. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

async function runOwnCommand(args: readonly string[], timeoutMs: number): Promise<CommandResult | null> {
  const child = Bun.spawn([...ownCommand(), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: process.env,
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  })
  lowerPriority(child.pid)
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return child.signalCode === null ? { exitCode, stdout, stderr } : null
}

function startPiped(args: readonly string[]): PipedProcess {
  const child = Bun.spawn([...ownCommand(), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: process.env,
  })
  return {
    write: async bytes => {
      child.stdin.write(bytes)
      await child.stdin.flush()
    },
    chunks: child.stdout,
    exited: child.exited.then(() => ({
      exitCode: child.exitCode,
      killedBy: child.signalCode === null ? null : String(child.signalCode),
    })),
    kill: () => child.kill("SIGKILL"),
  }
}

function startWorkerProcess(
  args: readonly string[],
  memoryDescriptor: number,
  ...[onMessage, onExit]: Parameters<StartWorker>
): WorkerProcess {
  let hasExited = false
  const child = Bun.spawn([...ownCommand(), ...args], {
    stdio: ["ignore", "ignore", "inherit", memoryDescriptor],
    env: process.env,
    ipc: message => onMessage(message as WorkerMessage), // sent by this same program
    onExit: ({ exitCode, signalCode }) => {
      hasExited = true
      onExit({ exitCode, killedBy: signalCode === null ? null : String(signalCode) })
    },
  })
  return {
    pid: child.pid,
    send: message => {
      if (!hasExited) child.send(message)
    },
    stop: () => child.kill("SIGTERM"),
    kill: () => child.kill("SIGKILL"),
  }
}

/** The command that runs this program: the executable itself, or Bun with the main file of the checkout. */
const ownCommand = (): readonly string[] =>
  Bun.embeddedFiles.length > 0 ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main]

function connectToSupervisor(): SupervisorLink | null {
  if (process.send === undefined) return null
  const send = process.send.bind(process)
  // A terminal sends Ctrl-C to all its processes. The supervisor decides what to do.
  process.on("SIGINT", () => undefined)
  const supervisorEnded = new Promise<string>(resolve => {
    process.once("disconnect", () => resolve("the end of the supervisor"))
  })
  // The handler stays: an init system that stops the whole group signals this worker before its supervisor does so again.
  const terminated = new Promise<string>(resolve => {
    process.on("SIGTERM", resolve)
  })
  return {
    memory: Bun.mmap(`/dev/fd/${MEMORY_DESCRIPTOR}`),
    send: message => {
      if (process.connected) send(message)
    },
    onMessage: handler => void process.on("message", message => handler(message as SupervisorMessage)), // sent by this same program
    stopSignal: () => Promise.race([terminated, supervisorEnded]),
  }
}
