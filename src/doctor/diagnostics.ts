import { errorCode } from "../base/errors.ts"
import type { SetTimer } from "../base/outside-world.ts"

/** The outcome of a diagnostic. `skipped`: it was not run, and `seen` says why. */
export const DIAGNOSTIC_STATUSES = ["ok", "warning", "failed", "skipped"] as const
type DiagnosticStatus = (typeof DIAGNOSTIC_STATUSES)[number]

/** The result of a diagnostic. Its sentences contain no secrets and no personal addresses. */
export type DiagnosticResult = {
  readonly verdict: DiagnosticStatus
  /** What was found, in a sentence or two. */
  readonly seen: string
  /** What the operator can do, in a sentence; `null` if nothing needs to be done. */
  readonly remedy: string | null
}

/** Nothing is wrong. */
export const ok = (seen: string): DiagnosticResult => ({ verdict: "ok", seen, remedy: null })

/** It works, but something should be fixed. */
export const warning = (seen: string, remedy: string): DiagnosticResult => ({ verdict: "warning", seen, remedy })

/** It does not work. */
export const failed = (seen: string, remedy: string): DiagnosticResult => ({ verdict: "failed", seen, remedy })

/** It was not checked. */
export const skipped = (why: string): DiagnosticResult => ({ verdict: "skipped", seen: why, remedy: null })

/** All diagnostics, in the order of the output. */
export const DIAGNOSTICS = {
  settings: { description: "All settings are known and valid, and nodes have the same where they must." },
  directory: { description: "The data directory exists, is only for its owner, and can be written and mapped." },
  disk: { description: "Its disk has free space." },
  descriptors: { description: "A process may open as many files and sockets as it needs." },
  database: { description: "The database opens, is not damaged, and has the tables of this version." },
  backups: {
    description: "Scheduled backups can be written, the newest one is young, and a Litestream copies changes.",
  },
  jobs: { description: "The folder with the lists of jobs can be written, and all servers share it." },
  dns: { description: "Each DNS server knows the canaries, and answers soon." },
  clock: { description: "The clock agrees with earlier data and with other servers." },
  smtp: { description: "The mail server accepts a connection, TLS, the login and the sender." },
  identity: { description: "The identity endpoint answers." },
  rdap: { description: "The RDAP bootstrap can be downloaded and read." },
  leak_keys: { description: "The leak reporter's public keys can be downloaded and read." },
  lists: { description: "The lists are undamaged and fresh." },
  port: { description: "The server answers on the port, or the port is free." },
  outbox: { description: "No mail waits too long." },
} as const satisfies Record<string, { readonly description: string }>
export type DiagnosticName = keyof typeof DIAGNOSTICS

/** The names of all diagnostics, in order. */
export const DIAGNOSTIC_NAMES: readonly DiagnosticName[] = Object.keys(DIAGNOSTICS).filter(isDiagnostic)

/** How long one diagnostic may take. They run in parallel, so all of them take hardly longer. */
export const DIAGNOSTIC_TIMEOUT_MS = 60_000

/** The function of each diagnostic. A rejection counts as a failure. */
export type Diagnostics = { readonly [N in DiagnosticName]: () => Promise<DiagnosticResult> }

/** A row of the output. */
export type DiagnosticRow = DiagnosticResult & { readonly name: DiagnosticName }

/** Whether this is the name of a diagnostic. */
export function isDiagnostic(name: string): name is DiagnosticName {
  return Object.hasOwn(DIAGNOSTICS, name)
}

/**
 * Runs the named diagnostics in parallel and returns a row for each, in the order of the table. Never rejects, and settles within
 * `DIAGNOSTIC_TIMEOUT_MS`.
 */
export async function runDiagnostics(
  diagnostics: Diagnostics,
  names: readonly DiagnosticName[],
  setTimer: SetTimer,
): Promise<readonly DiagnosticRow[]> {
  const asked = DIAGNOSTIC_NAMES.filter(name => names.includes(name))
  return await Promise.all(asked.map(async name => ({ name, ...(await runWithTimeout(diagnostics[name], setTimer)) })))
}

async function runWithTimeout(inspect: () => Promise<DiagnosticResult>, setTimer: SetTimer): Promise<DiagnosticResult> {
  const { promise, resolve } = Promise.withResolvers<DiagnosticResult>()
  const cancel = setTimer(DIAGNOSTIC_TIMEOUT_MS, () => resolve(TIMED_OUT))
  // Only the code: the message of an error may contain anything.
  const found = Promise.try(inspect).catch(fault => failed(`The check failed (${errorCode(fault)}).`, REPORT_REMEDY))
  return await Promise.race([found, promise]).finally(cancel)
}

const REPORT_REMEDY = "Report this as a bug of mailkind, with the version and the code in brackets."
const TIMED_OUT = failed(
  `The check did not end within ${DIAGNOSTIC_TIMEOUT_MS / 1000} s.`,
  "Check the disk and the network of this host, and run `mailkind doctor` again.",
)
