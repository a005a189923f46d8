import { edenGC } from "bun:jsc"
import { readdirSync, readFileSync } from "node:fs"
import { totalmem, userInfo } from "node:os"
import { isSystemError } from "../base/errors.ts"
import type { LogMessage } from "../base/log-events.ts"
import type { Streams } from "../base/streams.ts"
import type { OpenMailer } from "../customers/notices/mailer.ts"
import { createSmtpMailer } from "../customers/notices/smtp-mailer.ts"
import { type Processes, systemProcesses } from "./child-processes.ts"
import { type ControlSockets, unixControlSockets } from "./control-socket.ts"
import { type CheckoutFiles, createCheckoutFiles, createFiles, type SystemFiles } from "./files.ts"
import { descriptorsMaxOf, hostState, outOfMemoryKills, type ProcessWaits, processWaits } from "./host-state.ts"
import { createOutsideWorld, type OutsideWorld } from "./outside-world.ts"
import { linuxReusePort, type ReusePort } from "./reuse-port.ts"
import { createServiceManager, type ServiceManager } from "./service-manager.ts"
import { createStopSignals } from "./stop-signals.ts"
import { systemStreams } from "./streams.ts"

/** Everything that the program uses of the outside world. Tests replace single members. */
export type System = OutsideWorld & {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Sets and removes (undefined) environment variables of this process and of those that it starts from now on. */
  readonly setEnvironment: (variables: Readonly<Record<string, string | undefined>>) => void
  readonly writeStdout: (text: string) => void
  readonly writeStderr: (text: string) => void
  /** How many texts for standard error were lost since the last call, because nobody reads it; 0 as long as more would be. */
  readonly takeLostLines: () => number
  /** Resolves when the standard output has taken everything that was written. Rejects with the system's error if it has not. */
  readonly stdoutFlushed: () => Promise<void>
  /** Whether the standard input is a terminal, where somebody can answer. */
  readonly isInputTerminal: boolean
  /** Whether the standard output is a terminal. */
  readonly isOutputTerminal: boolean
  /** Whether the standard error is a terminal. */
  readonly isTerminal: boolean
  /** The standard error if it is a terminal, to draw progress on. */
  readonly terminal: NodeJS.WritableStream | null
  readonly streams: Streams
  readonly files: SystemFiles
  /** `null` in the executable. */
  readonly checkout: CheckoutFiles | null
  /** Collects garbage: all of it, which takes tens of milliseconds, or only the young generation, which takes one. */
  readonly collectGarbage: (isFull: boolean) => void
  readonly memory: {
    /** What this process has resident. */
    readonly residentBytes: () => number
    /** What the garbage collector's heap takes, with free room between its objects. */
    readonly heapBytes: () => number
    /** What the process may have with all others of its control group, or of the machine. */
    readonly limitBytes: () => number
  }
  /** The user of the operating system who runs this process, or who became another one with sudo; a number if it has no name. */
  readonly operatorName: () => string
  /** Resolves after `ms` milliseconds. */
  readonly sleep: (ms: number) => Promise<void>
  /** Opens a mailer for the SMTP server at a URL. */
  readonly openMailer: OpenMailer
  /** Resolves with the name of the next signal that asks the process to stop. After `until` it waits for none. */
  readonly stopSignal: (until?: AbortSignal) => Promise<string>
  /** Calls `work` on every SIGHUP. */
  readonly onReload: (work: () => void) => void
  readonly verbose: VerboseToggle
  readonly processes: Processes
  readonly processStats: () => ProcessStats
  /** What this host shows of an error with these codes at a path; null: nothing. */
  readonly hostState: (codes: string, place: string) => string | null
  /** How many processes the kernel has killed for lack of memory; null: it does not tell. */
  readonly outOfMemoryKills: () => number | null
  /** What a process waits for; null: the system does not tell. */
  readonly processWaits: (pid: number) => ProcessWaits | null
  readonly reusePort: ReusePort
  readonly controlSockets: ControlSockets
  readonly serviceManager: ServiceManager
  /** Starts the runtime's thread for `fetchUrl`. The first fetch would do so too, and ends the process if it has no descriptor left for that. */
  readonly startFetching: () => Promise<void>
}

/** The real system of this process. */
export function createSystem(): System {
  const files = createFiles()
  const stdout = createStdout()
  return {
    ...createOutsideWorld(),
    environment: process.env,
    setEnvironment,
    writeStdout: stdout.write,
    writeStderr,
    takeLostLines,
    stdoutFlushed: stdout.flushed,
    isOutputTerminal: process.stdout.isTTY === true,
    isTerminal: process.stderr.isTTY === true,
    isInputTerminal: process.stdin.isTTY === true,
    terminal: process.stderr.isTTY === true ? process.stderr : null,
    streams: systemStreams,
    files,
    checkout: files.isCompiled ? null : createCheckoutFiles(files),
    collectGarbage: isFull => void (isFull ? Bun.gc(true) : edenGC()),
    memory: { residentBytes: () => readMemoryUsage().rss, heapBytes: () => readMemoryUsage().heapTotal, limitBytes },
    operatorName,
    sleep: Bun.sleep,
    openMailer: createSmtpMailer(),
    stopSignal: createStopSignals(process, (ms, work) => {
      const timer = setTimeout(work, ms).unref()
      return () => clearTimeout(timer)
    }),
    onReload: work => void process.on("SIGHUP", work),
    verbose: createVerboseToggle(),
    processes: systemProcesses,
    processStats: readProcessStats,
    hostState: (codes, place) => hostState(codes, place, readProcessStats()),
    outOfMemoryKills,
    processWaits,
    reusePort: linuxReusePort,
    controlSockets: unixControlSockets,
    serviceManager: createServiceManager(process.env, process.pid),
    startFetching: async () => {
      // It is no socket, so this fails at once, and past every proxy.
      await fetch("http://localhost/", { unix: "/dev/null" }).catch(() => undefined)
    },
  }
}

/** How much text waits at most for whoever reads standard error. */
const STDERR_BYTES_MAX = 8 * 1_048_576

const stderrQueue = { isGuarded: false, bytes: 0, lostCount: 0, toldCount: 0 }

/** Writes to standard error. A full disk, and a reader that has gone or hangs, cost lines of the log and not the server. */
function writeStderr(text: string): void {
  if (stderrQueue.bytes > STDERR_BYTES_MAX) {
    stderrQueue.lostCount++
    return
  }
  if (!stderrQueue.isGuarded) process.stderr.on("error", () => undefined)
  stderrQueue.isGuarded = true
  const bytes = Buffer.byteLength(text)
  stderrQueue.bytes += bytes
  process.stderr.write(text, () => {
    stderrQueue.bytes -= bytes
  })
}

/** How many texts for standard error were lost since the last call, once there is room again; else 0. */
function takeLostLines(): number {
  const { lostCount, toldCount, bytes } = stderrQueue
  if (bytes > STDERR_BYTES_MAX) return 0
  stderrQueue.toldCount = lostCount
  return lostCount - toldCount
}

/** The name of this process's user, or who became root by `sudo`. The environment is not believed otherwise: anybody sets it. */
function operatorName(): string {
  const uid = process.getuid?.()
  if (uid === undefined) return userInfo().username
  const { SUDO_USER: before = "" } = process.env
  return uid === 0 && before !== "" ? before : (userName(uid) ?? nameByCommand() ?? String(uid))
}

/** The name of a user in the password file; null: it has none, or there is no such file. Bun's `userInfo` takes it from the environment. */
function userName(uid: number): string | null {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n")
    const fields = lines.map(line => line.split(":")).find(([, , id]) => id === String(uid))
    return fields?.[0] ?? null
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** The name of a user whom another directory than the password file knows (id(1)); null: there is no such command. */
function nameByCommand(): string | null {
  try {
    const { stdout, exitCode } = Bun.spawnSync(["id", "-un"])
    return exitCode === 0 ? stdout.toString().trim() : null
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

function setEnvironment(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(variables))
    if (text === undefined) delete process.env[name]
    else process.env[name] = text
}

/** The standard output. A pipe takes only as much as its buffer holds; the rest is lost if the process ends too early. */
function createStdout(): { readonly write: System["writeStdout"]; readonly flushed: System["stdoutFlushed"] } {
  const pending = new Set<Promise<void>>()
  let failure: Error | null = null
  return {
    write: text => {
      const write = new Promise<void>(
        resolve =>
          void process.stdout.write(text, error => {
            failure ??= error ?? null
            resolve()
          }),
      )
      pending.add(write)
      void write.then(() => pending.delete(write))
    },
    flushed: async () => {
      await Promise.all(pending)
      if (failure !== null) throw failure
    },
  }
}

/** Whether all log lines are written, whatever the settings say. */
type VerboseToggle = {
  readonly isOn: () => boolean
  readonly set: (isOn: boolean) => void
  /** Toggles on every SIGUSR2 from now on, and passes the new state to `onToggle`. */
  readonly toggleOnSignal: (onToggle: (isOn: boolean) => void) => void
  /** Has SIGUSR2 do nothing: this process is told in another way. */
  readonly ignoreSignal: () => void
}

/** The log message about a new state. */
export const verboseMessage = (isOn: boolean): LogMessage =>
  isOn ? "every line is logged" : "the log is as it was set"

function createVerboseToggle(): VerboseToggle {
  let isOn = false
  return {
    isOn: () => isOn,
    set: value => {
      isOn = value
    },
    toggleOnSignal: onToggle =>
      void process.on("SIGUSR2", () => {
        const next = !isOn
        // The change itself is logged either way.
        isOn = true
        onToggle(next)
        isOn = next
      }),
    ignoreSignal: () => void process.on("SIGUSR2", () => undefined),
  }
}

/** Resource usage of the process. */
type ProcessStats = {
  readonly residentBytes: number
  readonly heapBytes: number
  readonly cpuS: number
  /** The number of open files and sockets; 0 if the system does not report it. */
  readonly descriptorCount: number
  /** How many may be open; 0 if the system does not report it, or has no limit. */
  readonly descriptorsMax: number
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  /** How many texts for standard error were lost since the start, because nobody read it. */
  readonly lostLineCount: number
}

const DESCRIPTORS_PATH = "/proc/self/fd"
const PROCESS_STARTED_AT_MS = performance.timeOrigin

/** Reads the current usage. It lists all open descriptors, so it is too slow for every request. */
function readProcessStats(): ProcessStats {
  const { rss, heapUsed } = readMemoryUsage()
  const { user, system } = process.cpuUsage()
  return {
    residentBytes: rss,
    heapBytes: heapUsed,
    cpuS: (user + system) / 1e6,
    descriptorCount: countDescriptors(),
    descriptorsMax: DESCRIPTORS_MAX,
    startedAtMs: PROCESS_STARTED_AT_MS,
    lostLineCount: stderrQueue.lostCount,
  }
}

/** The runtime gives the limit of the control group, or the memory of the machine; 0 is what it gives where it knows of none. */
const limitBytes = (): number => process.constrainedMemory() || totalmem()

let lastMemoryUsage: Pick<NodeJS.MemoryUsage, "rss" | "heapUsed" | "heapTotal"> = { rss: 0, heapUsed: 0, heapTotal: 0 }

/** The runtime opens a file for it, and throws when no descriptor is left. What was read last is told then. */
function readMemoryUsage(): typeof lastMemoryUsage {
  try {
    lastMemoryUsage = process.memoryUsage()
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
  return lastMemoryUsage
}

function countDescriptors(): number {
  try {
    return readdirSync(DESCRIPTORS_PATH).length
  } catch (error) {
    // The folder is opened by a descriptor, too.
    if (isSystemError(error)) return isSystemError(error, "EMFILE") ? DESCRIPTORS_MAX : 0
    throw error
  }
}

/** It is read at the start, since it takes a descriptor. */
const DESCRIPTORS_MAX = descriptorsMaxOf("self")
