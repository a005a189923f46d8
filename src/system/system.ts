import { edenGC } from "bun:jsc"
import { getServers } from "node:dns"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { type Connect, socketConnect } from "../base/connect.ts"
import type { Fetch } from "../base/fetch.ts"
import type { Clock, Random, SetTimer, Stopwatch } from "../base/outside-world.ts"
import type { Streams } from "../base/streams.ts"
import { tickClock } from "../base/time.ts"
import type { Folder } from "../check/refresh/refresh-state.ts"
import type { OpenMailer } from "../customers/notices/mailer.ts"
import { createSmtpMailer } from "../customers/notices/smtp-mailer.ts"
import { type Processes, systemProcesses } from "./child-processes.ts"
import { type ControlSockets, unixControlSockets } from "./control-socket.ts"
import { createFolder, writeFileAtomic } from "./folder.ts"
import { linuxReusePort, type ReusePort } from "./reuse-port.ts"
import { systemStreams } from "./streams.ts"

/** The real outside world, as far as we ask it. */
export type System = {
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly random: Random
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly writeStdout: (text: string) => void
  readonly writeStderr: (text: string) => void
  /** Resolves when whoever reads our output has taken all that was written, or is gone. */
  readonly stdoutFlushed: () => Promise<void>
  readonly isTerminal: boolean
  /** The terminal that the standard error is, to draw on; null: it is none. */
  readonly terminal: NodeJS.WritableStream | null
  readonly streams: Streams
  readonly files: SystemFiles
  /** Null in the executable. */
  readonly checkout: CheckoutFiles | null
  /** Calls `work` every `everyMs` until the returned function is called. It does not keep the process alive. */
  readonly runInterval: (everyMs: number, work: () => void) => () => void
  /** Gives memory back that nothing uses any more: all of it, which takes tens of milliseconds, or what was made lately, which takes one. */
  readonly collectGarbage: (isAll: boolean) => void
  /** Resolves after `ms`. */
  readonly sleep: (ms: number) => Promise<void>
  readonly setTimer: SetTimer
  /** Calls `work` at the end of this turn of the event loop: when all that has arrived by now was taken in. */
  readonly nextTick: (work: () => void) => void
  readonly fetchUrl: Fetch
  /** Opens a connection to an address. */
  readonly connect: Connect
  /** Sends mail through a server that is named by its URL. */
  readonly openMailer: OpenMailer
  /** The DNS servers that the system is set to ask, as `address[:port]`. */
  readonly systemDnsServers: () => readonly string[]
  /** Resolves with the first of the names that the process is asked to stop by. */
  readonly stopSignal: () => Promise<string>
  /** Calls `work` whenever the process is asked to reload (SIGHUP). */
  readonly onReload: (work: () => void) => void
  readonly verbose: VerboseToggle
  readonly processes: Processes
  readonly processStats: () => ProcessStats
  readonly reusePort: ReusePort
  readonly controlSockets: ControlSockets
}

/** The checkout that this process runs from, read as text. Paths are from its root; a missing file throws. */
export type CheckoutFiles = {
  readonly read: (path: string) => string
  readonly list: (folder: string) => readonly string[]
  /** The names in a folder, without those below it. */
  readonly entryNames: (folder: string) => readonly string[]
  readonly write: (path: string, bytes: Uint8Array | string) => Promise<void>
  readonly exists: (path: string) => boolean
}

/** Files, as far as we touch them. */
type SystemFiles = {
  /** A file that the executable carries, or that lies in the checkout under the same name; null when it is not there. */
  readonly bundled: (name: BundledFileName) => Blob | null
  /** Whether this is the executable, which carries its files, and not a checkout. */
  readonly isCompiled: boolean
  /** The checkout's root directory. */
  readonly root: string
  readonly read: (path: string) => Promise<Uint8Array | null>
  /**
   * Maps a file, or reads it where that is refused; it must never be written or cut afterwards. Null when there is none or it
   * is empty.
   */
  readonly mmap: (path: string) => Uint8Array | null
  /** When a file was last put in its place, in milliseconds since the Unix epoch; null: there is none that we may see. */
  readonly modifiedAtMs: (path: string) => number | null
  /** A folder of files, which is made when the first is written. */
  readonly folder: (path: string) => Folder
  /** Writes a new file beside `path` and renames it, so that `path` is the old file or the new one at every moment. */
  readonly writeAtomic: (path: string, bytes: Uint8Array | string) => Promise<void>
}

/**
 * Files that the executable carries, and where they lie in a checkout. A name that ends like a script's or in `.json` is that
 * of a module, which is compiled and not carried.
 */
export const BUNDLED_FILES = {
  "lists.pack": "data/build/lists.pack",
  "sources.stock": "data/build/sources.stock",
  "manifest.json.asset": "data/manifest.json",
  "inventory.json.asset": "data/build/inventory.json.asset",
  "scalar.js.asset": "node_modules/@scalar/api-reference/dist/browser/standalone.js",
  "reference.js.asset": "src/http/site/browser/reference.js",
  "copy.js.asset": "src/http/site/browser/copy.js",
  "once.js.asset": "src/http/site/browser/once.js",
  "usage-chart.js.asset": "src/http/site/browser/usage-chart.js",
  "uplot.js.asset": "node_modules/uplot/dist/uPlot.iife.min.js",
  "uplot.css.asset": "node_modules/uplot/dist/uPlot.min.css",
  "altcha.js.asset": "node_modules/altcha/dist/external/altcha.min.js",
  "altcha.css.asset": "node_modules/altcha/dist/external/altcha.css",
  "altcha-worker.js.asset": "node_modules/altcha/dist/workers/pbkdf2.js",
  "pass.js.asset": "src/http/site/browser/pass.js",
  "grafana-dashboard.json.asset": "data/grafana/mailkind.json",
  "prometheus-alerts.yml.asset": "data/grafana/alerts.yml",
  "mailkind.service.asset": "data/deploy/mailkind@.service",
  "mailkind.env.asset": "data/deploy/mailkind.env",
  "Dockerfile.asset": "data/deploy/Dockerfile",
} as const satisfies Record<string, string>
export type BundledFileName = keyof typeof BUNDLED_FILES

const nextTick: System["nextTick"] = work => void setImmediate(work)

/** The world that the process runs in. */
export function createSystem(): System {
  const files = createFiles()
  const said = createStdout()
  return {
    clock: tickClock(Date.now, nextTick),
    stopwatch: () => performance.now(),
    random: count => crypto.getRandomValues(new Uint8Array(count)),
    environment: process.env,
    writeStdout: said.write,
    writeStderr: text => void process.stderr.write(text),
    stdoutFlushed: said.written,
    isTerminal: process.stderr.isTTY === true,
    terminal: process.stderr.isTTY === true ? process.stderr : null,
    streams: systemStreams,
    files,
    checkout: files.isCompiled ? null : createCheckoutFiles(files),
    runInterval: (everyMs, work) => {
      const timer = setInterval(work, everyMs)
      timer.unref()
      return () => clearInterval(timer)
    },
    collectGarbage: isAll => void (isAll ? Bun.gc(true) : edenGC()),
    sleep: ms =>
      new Promise(resolve => {
        setTimeout(resolve, ms)
      }),
    setTimer: (ms, work) => {
      const timer = setTimeout(work, ms)
      return () => clearTimeout(timer)
    },
    nextTick,
    // A redirect is an answer for whoever asked, never followed unseen.
    fetchUrl: (url, options) => fetch(url, { ...options, redirect: "manual" }),
    connect: socketConnect(),
    openMailer: createSmtpMailer(),
    systemDnsServers: getServers,
    stopSignal: () =>
      new Promise(resolve => {
        for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name))
      }),
    onReload: work => void process.on("SIGHUP", work),
    verbose: createVerboseToggle(),
    processes: systemProcesses,
    processStats: readProcessStats,
    reusePort: linuxReusePort,
    controlSockets: unixControlSockets,
  }
}

/** The standard output. A pipe takes as much at once as it holds, and the rest is lost when the process ends before. */
function createStdout(): { readonly write: System["writeStdout"]; readonly written: System["stdoutFlushed"] } {
  const waiting = new Set<Promise<void>>()
  return {
    write: text => {
      const taken = new Promise<void>(resolve => void process.stdout.write(text, () => resolve()))
      waiting.add(taken)
      void taken.then(() => waiting.delete(taken))
    },
    written: async () => void (await Promise.all(waiting)),
  }
}

function createFiles(): SystemFiles {
  const carried = new Map(Bun.embeddedFiles.map(file => [embeddedName(file), file] as const))
  const root = join(import.meta.dir, "../..")
  return {
    isCompiled: carried.size > 0,
    root,
    bundled: name => {
      // An executable that lacks a file must not find it where it was built, and nowhere else.
      if (carried.size > 0) return carried.get(name) ?? null
      const path = join(root, BUNDLED_FILES[name])
      return existsSync(path) ? Bun.file(path) : null
    },
    read: async path => ((await Bun.file(path).exists()) ? await Bun.file(path).bytes() : null),
    mmap: mmapOrRead,
    modifiedAtMs,
    folder: createFolder,
    writeAtomic: writeFileAtomic,
  }
}

/** Mapping wants leave to write, though nothing is written: a file that may be read alone is read. */
function mmapOrRead(path: string): Uint8Array | null {
  if (!existsSync(path) || Bun.file(path).size === 0) return null
  try {
    return Bun.mmap(path)
  } catch (refused) {
    const code = refused instanceof Error && "code" in refused ? refused.code : ""
    if (code === "EROFS" || code === "EACCES") return readFileSync(path)
    throw refused
  }
}

/** Somebody else's folder is no reason for a server that looks into it now and then to end. */
function modifiedAtMs(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
  } catch (unseen) {
    if (unseen instanceof Error && "code" in unseen) return null
    throw unseen
  }
}

function createCheckoutFiles({ root, writeAtomic }: SystemFiles): CheckoutFiles {
  return {
    read: path => readFileSync(join(root, path), "utf8"),
    list: folder =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => relative(join(root, folder), join(entry.parentPath, entry.name)).replaceAll("\\", "/")),
    entryNames: folder => readdirSync(join(root, folder)),
    write: (path, bytes) => writeAtomic(join(root, path), bytes),
    exists: path => existsSync(join(root, path)),
  }
}

/** Embedded files are Blobs with a name, which their type does not say. */
const embeddedName = (file: Blob): string => ("name" in file && typeof file.name === "string" ? file.name : "")

/** Whether every line of the log is wanted, whatever the settings say. */
type VerboseToggle = {
  readonly isOn: () => boolean
  readonly set: (isWanted: boolean) => void
  /** From now on SIGUSR2 changes it; `told` gets what it is then. */
  readonly toggleOnSignal: (told: (isWanted: boolean) => void) => void
}

/** What the log says of it from now on. */
export const verboseMessage = (isWanted: boolean): string =>
  isWanted ? "every line is logged" : "the log is as it was set"

/** That of this process: the usual lines until the signal comes. */
function createVerboseToggle(): VerboseToggle {
  let isWanted = false
  return {
    isOn: () => isWanted,
    set: wanted => {
      isWanted = wanted
    },
    toggleOnSignal: told =>
      void process.on("SIGUSR2", () => {
        const next = !isWanted
        // What is told of the change is logged either way.
        isWanted = true
        told(next)
        isWanted = next
      }),
  }
}

/** What the process takes of its machine. */
type ProcessStats = {
  readonly residentBytes: number
  readonly heapBytes: number
  readonly cpuS: number
  /** Open files and sockets; 0 where the system does not tell. */
  readonly descriptorCount: number
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
}

const DESCRIPTORS_PATH = "/proc/self/fd"
const PROCESS_STARTED_AT_MS = performance.timeOrigin

/** What this process takes now. It looks at each open descriptor, so it is not for every request. */
function readProcessStats(): ProcessStats {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return {
    residentBytes: rss,
    heapBytes: heapUsed,
    cpuS: (user + system) / 1e6,
    descriptorCount: countDescriptors(),
    startedAtMs: PROCESS_STARTED_AT_MS,
  }
}

function countDescriptors(): number {
  try {
    return readdirSync(DESCRIPTORS_PATH).length
  } catch (untold) {
    if (untold instanceof Error && "code" in untold) return 0
    throw untold
  }
}
