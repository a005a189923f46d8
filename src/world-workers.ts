import { closeSync, openSync, unlinkSync, writeSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { availableParallelism, constants, setPriority } from "node:os"
import { join } from "node:path"
import type { Child, StartChild } from "./workers/child.ts"
import type { SupervisorMessage, WorkerMessage } from "./workers/message.ts"

/** The other processes of one server. */
export type Others = {
  /** How many processes can run at once. */
  readonly cores: () => number
  /**
   * Makes memory that begins with these bytes, for this process and the workers that it starts. It is a file without a
   * name, made in the folder: it is gone when the last of them is. Rejects when the folder cannot take it.
   */
  readonly share: (folder: string, bytes: Uint8Array) => Promise<SharedMemory>
  /** Starts workers, which run the command with these words and have the memory. */
  readonly starter: (words: readonly string[], memory: SharedMemory) => StartChild
  /**
   * Runs this program's command with these words to its end and resolves with what it printed; null: it was killed, by the
   * system or since it took longer than `timeoutMs`. It gives way to whatever else wants to run. What it complains of goes to our own standard error.
   */
  readonly run: (words: readonly string[], timeoutMs: number) => Promise<Ended | null>
  /** The number of this process. */
  readonly pid: number
  /** Whether a process of this number runs on this host. */
  readonly isRunning: (pid: number) => boolean
  /** Who started this worker; null: this process is none. Ctrl-C, which reaches workers too, is left to the supervisor. */
  readonly supervisor: () => Supervisor | null
}

/** How a command ended. */
export type Ended = { readonly exitCode: number; readonly out: string }

/** Memory that several processes see. */
export type SharedMemory = {
  readonly bytes: Uint8Array
  /** The descriptor of its file. */
  readonly file: number
}

/** The supervisor as a worker has it. */
export type Supervisor = {
  readonly memory: Uint8Array
  readonly tell: (message: WorkerMessage) => void
  /** Who hears what the supervisor tells; the worker asks when it is ready to. */
  readonly hear: (heard: (message: SupervisorMessage) => void) => void
  /** Resolves with what this worker is asked to stop by: a name of the system, or that its supervisor is gone. */
  readonly stopAsked: () => Promise<string>
}

/** Where a worker finds its memory: after the standard input, output and error. */
const MEMORY_FILE = 3

/** The real other processes. */
export const realOthers: Others = {
  cores: availableParallelism,
  share: async (folder, bytes) => {
    const path = join(folder, `workers.${process.pid}.${Bun.randomUUIDv7()}`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = openSync(path, "wx+", 0o600)
    try {
      // Written, not only made as long: a disk that is full has to say so here, not when a page is first touched.
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at)
      return { bytes: Bun.mmap(path), file }
    } catch (error) {
      closeSync(file)
      throw error
    } finally {
      unlinkSync(path)
    }
  },
  starter: (words, memory) => (heard, ended) => startChild(words, memory.file, heard, ended),
  run: runToEnd,
  pid: process.pid,
  isRunning: pid => {
    try {
      return process.kill(pid, 0)
    } catch (error) {
      // It runs, and belongs to somebody else.
      return error instanceof Error && "code" in error && error.code === "EPERM"
    }
  },
  supervisor: realSupervisor,
}

/** Requests go before it. It is a wish: where the system does not grant it, the process runs like any other. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch (refused) {
    if (!(refused instanceof Error && "code" in refused)) throw refused
  }
}

async function runToEnd(words: readonly string[], timeoutMs: number): Promise<Ended | null> {
  const child = Bun.spawn([...ownProgram(), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  })
  giveWay(child.pid)
  const [out, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited])
  return child.signalCode === null ? { exitCode, out } : null
}

function startChild(words: readonly string[], file: number, ...[heard, ended]: Parameters<StartChild>): Child {
  let isGone = false
  const child = Bun.spawn([...ownProgram(), ...words], {
    stdio: ["ignore", "ignore", "inherit", file],
    ipc: message => heard(message as WorkerMessage), // told by this same program
    onExit: ({ exitCode, signalCode }) => {
      isGone = true
      ended({ exitCode, killedBy: signalCode === null ? null : String(signalCode) })
    },
  })
  return {
    pid: child.pid,
    tell: message => {
      if (!isGone) child.send(message)
    },
    stop: () => child.kill("SIGTERM"),
    kill: () => child.kill("SIGKILL"),
  }
}

/** What starts this program again: the executable itself, or in a checkout Bun with our main file. */
const ownProgram = (): readonly string[] =>
  Bun.embeddedFiles.length > 0 ? [process.execPath] : [process.execPath, ...process.execArgv, Bun.main]

function realSupervisor(): Supervisor | null {
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
    memory: Bun.mmap(`/dev/fd/${MEMORY_FILE}`),
    tell: message => {
      if (process.connected) send(message)
    },
    hear: heard => void process.on("message", message => heard(message as SupervisorMessage)), // told by this same program
    stopAsked: () => Promise.race([asked, gone]),
  }
}
