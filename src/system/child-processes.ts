import { closeSync, openSync, unlinkSync, writeSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { availableParallelism, constants, setPriority } from "node:os"
import { join } from "node:path"

/** The other processes of one server. */
export type Processes = {
  /** How many processes can run at once. */
  readonly availableCores: () => number
  /**
   * Makes memory that begins with these bytes, for this process and the workers that it starts. It is a file without a
   * name, made in the folder: it is gone when the last of them is. Rejects when the folder cannot take it.
   */
  readonly createSharedMemory: (folder: string, bytes: Uint8Array) => Promise<SharedMemory>
  /** Starts workers, which run the command with these words and have the memory. */
  readonly workerStarter: (words: readonly string[], memory: SharedMemory) => StartWorker
  /**
   * Runs this program's command with these words to its end and resolves with what it printed; null: it was killed, by the
   * system or since it took longer than `timeoutMs`. It gives way to whatever else wants to run. What it complains of goes to our own standard error.
   */
  readonly run: (words: readonly string[], timeoutMs: number) => Promise<CommandResult | null>
  /** The number of this process. */
  readonly pid: number
  /** Whether a process of this number runs on this host. */
  readonly isRunning: (pid: number) => boolean
  /** Who started this worker; null: this process is none. Ctrl-C, which reaches workers too, is left to the supervisor. */
  readonly supervisorLink: () => SupervisorLink | null
}

/** How a command ended. */
export type CommandResult = { readonly exitCode: number; readonly stdout: string }

/** Memory that several processes see. */
type SharedMemory = {
  readonly bytes: Uint8Array
  /** The descriptor of its file. */
  readonly descriptor: number
}

/** The supervisor as a worker has it. */
export type SupervisorLink = {
  readonly memory: Uint8Array
  readonly send: (message: WorkerMessage) => void
  /** Who hears what the supervisor tells; the worker asks when it is ready to. */
  readonly onMessage: (heard: (message: SupervisorMessage) => void) => void
  /** Resolves with what this worker is asked to stop by: a name of the system, or that its supervisor is gone. */
  readonly stopSignal: () => Promise<string>
}

/** Where a worker finds its memory: after the standard input, output and error. */
const MEMORY_DESCRIPTOR = 3

/** The real other processes. */
export const systemProcesses: Processes = {
  availableCores: availableParallelism,
  createSharedMemory: async (folder, bytes) => {
    const path = join(folder, `workers.${process.pid}.${Bun.randomUUIDv7()}`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const descriptor = openSync(path, "wx+", 0o600)
    try {
      // Written, not only made as long: a disk that is full has to say so here, not when a page is first touched.
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at)
      return { bytes: Bun.mmap(path), descriptor }
    } catch (error) {
      closeSync(descriptor)
      throw error
    } finally {
      unlinkSync(path)
    }
  },
  workerStarter: (words, memory) => (heard, ended) => startWorkerProcess(words, memory.descriptor, heard, ended),
  run: runOwnCommand,
  pid: process.pid,
  isRunning: pid => {
    try {
      return process.kill(pid, 0)
    } catch (error) {
      // It runs, and belongs to somebody else.
      return error instanceof Error && "code" in error && error.code === "EPERM"
    }
  },
  supervisorLink: connectToSupervisor,
}

/** Requests go before it. It is a wish: where the system does not grant it, the process runs like any other. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch (refused) {
    if (!(refused instanceof Error && "code" in refused)) throw refused
  }
}

async function runOwnCommand(words: readonly string[], timeoutMs: number): Promise<CommandResult | null> {
  const child = Bun.spawn([...ownCommand(), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  })
  lowerPriority(child.pid)
  const [stdout, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited])
  return child.signalCode === null ? { exitCode, stdout } : null
}

function startWorkerProcess(
  words: readonly string[],
  file: number,
  ...[heard, ended]: Parameters<StartWorker>
): WorkerProcess {
  let isGone = false
  const child = Bun.spawn([...ownCommand(), ...words], {
    stdio: ["ignore", "ignore", "inherit", file],
    ipc: message => heard(message as WorkerMessage), // told by this same program
    onExit: ({ exitCode, signalCode }) => {
      isGone = true
      ended({ exitCode, killedBy: signalCode === null ? null : String(signalCode) })
    },
  })
  return {
    pid: child.pid,
    send: message => {
      if (!isGone) child.send(message)
    },
    stop: () => child.kill("SIGTERM"),
    kill: () => child.kill("SIGKILL"),
  }
}

/** What starts this program again: the executable itself, or in a checkout Bun with our main file. */
const ownCommand = (): readonly string[] =>
  Bun.embeddedFiles.length > 0 ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main]

function connectToSupervisor(): SupervisorLink | null {
  if (process.send === undefined) return null
  const send = process.send.bind(process)
  // It reaches all of a terminal's processes at once; the supervisor decides what it means.
  process.on("SIGINT", () => undefined)
  const gone = new Promise<string>(resolve => {
    process.once("disconnect", () => resolve("the end of the supervisor"))
  })
  // Heard every time: what stops a whole group, as an init system does, reaches this worker before its supervisor asks too.
  const asked = new Promise<string>(resolve => {
    process.on("SIGTERM", resolve)
  })
  return {
    memory: Bun.mmap(`/dev/fd/${MEMORY_DESCRIPTOR}`),
    send: message => {
      if (process.connected) send(message)
    },
    onMessage: heard => void process.on("message", message => heard(message as SupervisorMessage)), // told by this same program
    stopSignal: () => Promise.race([asked, gone]),
  }
}

/** What a worker tells its supervisor. */
export type WorkerMessage =
  /** It hears now, and asks what it is to do. */
  | { readonly kind: "asks" }
  /** It answers requests on the port. */
  | { readonly kind: "listens"; readonly port: number; readonly address: string; readonly baseUrl: string }
  /** It cannot start and ends; the sentence says why, and what to do about it. */
  | { readonly kind: "fails"; readonly message: string }
  /** It made changes that stand in the change log. */
  | { readonly kind: "changed" }
  /** Whether new connections go where it was told to steer them. */
  | { readonly kind: "steered"; readonly isRouted: boolean }
  /** It leaves and listens no more. */
  | { readonly kind: "closed" }

/** What a supervisor tells a worker. */
export type SupervisorMessage =
  /** Where it belongs: its seat, counted from zero, the port, 0 to pick a free one, and on how many sockets it listens. */
  | { readonly kind: "begin"; readonly seat: number; readonly port: number; readonly socketCount: number }
  /** The lists are to be read anew. */
  | { readonly kind: "reload" }
  /** Whether every line of the log is wanted. */
  | { readonly kind: "detail"; readonly isOn: boolean }
  /** Another worker made changes: the change log is to be read. */
  | { readonly kind: "look" }
  /** The system is to give new connections to these of all sockets on the port. */
  | { readonly kind: "steer"; readonly position: number; readonly count: number }
  /** Another server takes the place of this one: it is to have its callers go. */
  | { readonly kind: "leave" }
  /** Nothing can be on its way to it any more: it is to listen no longer. */
  | { readonly kind: "close" }

/** How a worker ended. */
export type WorkerExit = {
  /** Null: it was killed. */
  readonly exitCode: number | null
  /** What it was killed by, such as `SIGKILL`; null: it ended by itself. */
  readonly killedBy: string | null
}

/** A worker as its supervisor has it. Nothing here throws when the worker has ended. */
export type WorkerProcess = {
  readonly pid: number
  readonly send: (message: SupervisorMessage) => void
  /** Asks it to finish what is in flight and to end. */
  readonly stop: () => void
  /** Ends it at once. */
  readonly kill: () => void
}

/**
 * Starts a worker. `heard` gets what it tells, `ended` is called once when it is gone, and neither before this has
 * returned. Throws when it cannot be started.
 */
export type StartWorker = (heard: (message: WorkerMessage) => void, ended: (end: WorkerExit) => void) => WorkerProcess
