import { edenGC } from "bun:jsc"
import { getServers } from "node:dns"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import type { Streams } from "./base/byte-stream.ts"
import type { Clock, Random, Stopwatch } from "./base/clock.ts"
import { type Connect, socketConnect } from "./base/connect.ts"
import type { Later } from "./base/timer.ts"
import { turnClock } from "./base/turn-clock.ts"
import type { Web } from "./base/web.ts"
import type { Folder } from "./check/refresh/folder.ts"
import type { OpenMailer } from "./customers/notices/mailer.ts"
import { smtpMailer } from "./customers/notices/smtp-mailer.ts"
import { type Detail, realDetail } from "./world-detail.ts"
import { realFolder, replaceFile } from "./world-folder.ts"
import { type Listeners, realListeners } from "./world-listeners.ts"
import { type Meetings, realMeetings } from "./world-meetings.ts"
import { realStreams } from "./world-streams.ts"
import { realVitals, type Vitals } from "./world-vitals.ts"
import { type Others, realOthers } from "./world-workers.ts"

/** The real outside world, as far as we ask it. */
export type World = {
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly random: Random
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Resolves when whoever reads our output has taken all that was written, or is gone. */
  readonly written: () => Promise<void>
  readonly isTerminal: boolean
  /** The terminal that the standard error is, to draw on; null: it is none. */
  readonly terminal: NodeJS.WritableStream | null
  readonly streams: Streams
  readonly files: Files
  /** Null in the executable. */
  readonly checkout: CheckoutFiles | null
  /** Calls `work` every `everyMs` until the returned function is called. It does not keep the process alive. */
  readonly every: (everyMs: number, work: () => void) => () => void
  /** Gives memory back that nothing uses any more: all of it, which takes tens of milliseconds, or what was made lately, which takes one. */
  readonly tidy: (isAll: boolean) => void
  /** Resolves after `ms`. */
  readonly after: (ms: number) => Promise<void>
  readonly later: Later
  /** Calls `work` at the end of this turn of the event loop: when all that has arrived by now was taken in. */
  readonly soon: (work: () => void) => void
  readonly web: Web
  /** Opens a connection to an address. */
  readonly connect: Connect
  /** Sends mail through a server that is named by its URL. */
  readonly mailer: OpenMailer
  /** The DNS servers that the system is set to ask, as `address[:port]`. */
  readonly systemDnsServers: () => readonly string[]
  /** Resolves with the first of the names that the process is asked to stop by. */
  readonly stopAsked: () => Promise<string>
  /** Calls `work` whenever the process is asked to reload (SIGHUP). */
  readonly onReload: (work: () => void) => void
  readonly detail: Detail
  readonly others: Others
  readonly vitals: () => Vitals
  readonly listeners: Listeners
  readonly meetings: Meetings
}

/** The checkout that this process runs from, read as text. Paths are from its root; a missing file throws. */
export type CheckoutFiles = {
  readonly read: (path: string) => string
  readonly list: (folder: string) => readonly string[]
  /** The names in a folder, without those below it. */
  readonly names: (folder: string) => readonly string[]
  readonly write: (path: string, bytes: Uint8Array | string) => Promise<void>
  readonly exists: (path: string) => boolean
}

/** Files, as far as we touch them. */
export type Files = {
  /** A file that the executable carries, or that lies in the checkout under the same name; null when it is not there. */
  readonly own: (name: OwnFile) => Blob | null
  /** Whether this is the executable, which carries its files, and not a checkout. */
  readonly isExecutable: boolean
  /** The checkout's root directory. */
  readonly root: string
  readonly read: (path: string) => Promise<Uint8Array | null>
  /**
   * Maps a file, or reads it where that is refused; it must never be written or cut afterwards. Null when there is none or it
   * is empty.
   */
  readonly map: (path: string) => Uint8Array | null
  /** When a file was last put in its place, in milliseconds since the Unix epoch; null: there is none that we may see. */
  readonly changedAtMs: (path: string) => number | null
  /** A folder of files, which is made when the first is written. */
  readonly folder: (path: string) => Folder
  /** Writes a new file beside `path` and renames it, so that `path` is the old file or the new one at every moment. */
  readonly replace: (path: string, bytes: Uint8Array | string) => Promise<void>
}

/**
 * Files that the executable carries, and where they lie in a checkout. A name that ends like a script's or in `.json` is that
 * of a module, which is compiled and not carried.
 */
export const OWN_FILES = {
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
export type OwnFile = keyof typeof OWN_FILES

const soon: World["soon"] = work => void setImmediate(work)

/** The world that the process runs in. */
export function realWorld(): World {
  const files = realFiles()
  const said = standardOutput()
  return {
    clock: turnClock(Date.now, soon),
    stopwatch: () => performance.now(),
    random: count => crypto.getRandomValues(new Uint8Array(count)),
    environment: process.env,
    out: said.write,
    err: text => void process.stderr.write(text),
    written: said.written,
    isTerminal: process.stderr.isTTY === true,
    terminal: process.stderr.isTTY === true ? process.stderr : null,
    streams: realStreams,
    files,
    checkout: files.isExecutable ? null : checkoutAt(files),
    every: (everyMs, work) => {
      const timer = setInterval(work, everyMs)
      timer.unref()
      return () => clearInterval(timer)
    },
    tidy: isAll => void (isAll ? Bun.gc(true) : edenGC()),
    after: ms =>
      new Promise(resolve => {
        setTimeout(resolve, ms)
      }),
    later: (ms, work) => {
      const timer = setTimeout(work, ms)
      return () => clearTimeout(timer)
    },
    soon,
    // A redirect is an answer for whoever asked, never followed unseen.
    web: (url, options) => fetch(url, { ...options, redirect: "manual" }),
    connect: socketConnect(),
    mailer: smtpMailer(),
    systemDnsServers: getServers,
    stopAsked: () =>
      new Promise(resolve => {
        for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name))
      }),
    onReload: work => void process.on("SIGHUP", work),
    detail: realDetail(),
    others: realOthers,
    vitals: realVitals,
    listeners: realListeners,
    meetings: realMeetings,
  }
}

/** The standard output. A pipe takes as much at once as it holds, and the rest is lost when the process ends before. */
function standardOutput(): { readonly write: World["out"]; readonly written: World["written"] } {
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

function realFiles(): Files {
  const carried = new Map(Bun.embeddedFiles.map(file => [nameOf(file), file] as const))
  const root = join(import.meta.dir, "..")
  return {
    isExecutable: carried.size > 0,
    root,
    own: name => {
      // An executable that lacks a file must not find it where it was built, and nowhere else.
      if (carried.size > 0) return carried.get(name) ?? null
      const path = join(root, OWN_FILES[name])
      return existsSync(path) ? Bun.file(path) : null
    },
    read: async path => ((await Bun.file(path).exists()) ? await Bun.file(path).bytes() : null),
    map,
    changedAtMs,
    folder: realFolder,
    replace: replaceFile,
  }
}

/** Mapping wants leave to write, though nothing is written: a file that may be read alone is read. */
function map(path: string): Uint8Array | null {
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
function changedAtMs(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
  } catch (unseen) {
    if (unseen instanceof Error && "code" in unseen) return null
    throw unseen
  }
}

function checkoutAt({ root, replace }: Files): CheckoutFiles {
  return {
    read: path => readFileSync(join(root, path), "utf8"),
    list: folder =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => relative(join(root, folder), join(entry.parentPath, entry.name)).replaceAll("\\", "/")),
    names: folder => readdirSync(join(root, folder)),
    write: (path, bytes) => replace(join(root, path), bytes),
    exists: path => existsSync(join(root, path)),
  }
}

/** Embedded files are Blobs with a name, which their type does not say. */
const nameOf = (file: Blob): string => ("name" in file && typeof file.name === "string" ? file.name : "")
