import { resolve } from "node:path"
import { errorCode, StartupError } from "../base/errors.ts"
import type { Fetch } from "../base/fetch.ts"
import { lazy } from "../base/lazy.ts"
import { parseJson } from "../base/text.ts"
import { ownMember } from "../base/untrusted-text.ts"
import { openActivePack, readListsDamage, readRefreshState } from "../check/active-lists/lists-in-place.ts"
import { parseBootstrap } from "../check/age/rdap-bootstrap.ts"
import { type DownloadBounds, download } from "../check/fetch/download.ts"
import { identityUrls, RESERVED_DOMAIN, requestIdentity } from "../check/tenant/identity-endpoint.ts"
import { openidConfigurationUrl } from "../check/tenant/tenant-lookup.ts"
import { doctorArguments, type RunDoctor } from "../cli/doctor.ts"
import type { SettingsReading } from "../config/setting-sources.ts"
import { isDnsOff, type Settings } from "../config/settings.ts"
import { senderOf } from "../customers/mails.ts"
import { checkSmtp, isMailProtected } from "../customers/notices/smtp-mailer.ts"
import { StoreError } from "../customers/store/core/store-error.ts"
import {
  type PostgresStatus,
  readPostgresStatus,
  receivesNotifications,
} from "../customers/store/postgres/postgres-status.ts"
import { type BackupSchedule, diagnoseBackups } from "../doctor/backups.ts"
import { type ClockReferences, diagnoseClock, serverAheadMs } from "../doctor/clock.ts"
import {
  diagnosePostgres,
  diagnosePostgresOutbox,
  diagnoseSqlite,
  diagnoseSqliteOutbox,
  sqliteJobsFolder,
  sqliteLastWrittenAtMs,
  sqliteTrustedTime,
} from "../doctor/database.ts"
import {
  DIAGNOSTIC_NAMES,
  DIAGNOSTIC_STATUSES,
  DIAGNOSTIC_TIMEOUT_MS,
  type DiagnosticResult,
  type Diagnostics,
  failed,
  runDiagnostics,
  skipped,
} from "../doctor/diagnostics.ts"
import { diagnoseDirectory, diagnoseDisk } from "../doctor/directory.ts"
import { diagnoseJobsFolder, type StoredFolder } from "../doctor/jobs.ts"
import { diagnoseLists } from "../doctor/lists.ts"
import { diagnoseLitestream } from "../doctor/litestream.ts"
import {
  type DiagnosedEndpoint,
  diagnoseDocument,
  diagnoseIdentity,
  diagnoseMailServer,
  diagnoseResolvers,
} from "../doctor/network.ts"
import { diagnosePort, HEALTH_TIMEOUT_MS } from "../doctor/port.ts"
import { diagnoseSettings } from "../doctor/settings.ts"
import { parseKeySet } from "../http/hooks/reporter-keys.ts"
import { jobsDirectory } from "../jobs/jobs-part.ts"
import { knownBackupAtMs } from "../process/backup-scheduler.ts"
import { assertPortFree } from "../process/http-listener.ts"
import { isServedFrom } from "../process/takeover.ts"
import { descriptorsMaxOf, portHolder } from "../system/host-state.ts"
import type { System } from "../system/system.ts"
import { RDAP_BOOTSTRAP_BOUNDS, RDAP_BOOTSTRAP_URL } from "./check/deep-checks.ts"
import { readWaitingLists } from "./check/lists-in-force.ts"
import { createServerResolvers } from "./check/network.ts"
import { refreshHours } from "./check/refresh.ts"
import { type AppContext, createContext, sqliteFile } from "./context.ts"
import { REPORTER_KEYS_BOUNDS, REPORTER_KEYS_URL } from "./customers/leak-reports.ts"
import { formatUserAgent } from "./program.ts"
import { diagnoseServerDescriptors, workerCountOf } from "./serve-mode.ts"

/** How long an identity endpoint may take, the same as in a check. */
const IDENTITY_TIMEOUT_MS = 5000

/** Creates the doctor, which diagnoses everything that a server with these settings needs. */
export function createDoctor(system: System, readSettings: () => SettingsReading): RunDoctor {
  return async (names, isRunning) => {
    const read = readSettings()
    const diagnostics =
      read.kind === "read"
        ? createDiagnostics(createContext(system, read.settings), { isAlone: names.length === 1, isRunning })
        : invalidSettingsDiagnostics(read.faults)
    return await runDiagnostics(diagnostics, names, system.setTimer)
  }
}

/** Without valid settings nothing else can be diagnosed. */
function invalidSettingsDiagnostics(faults: readonly string[]): Diagnostics {
  const none = async () => skipped("The settings are faulty.")
  const settings = async () =>
    failed(`${faults.join(". ")}.`, "Fix them where they stand; `mailkind help settings` lists them all.")
  const all = DIAGNOSTIC_NAMES.map(name => [name, none] as const)
  return { ...(Object.fromEntries(all) as Diagnostics), settings } // of every name
}

/** `isAlone`: this process runs a single diagnostic, so it may block. */
type DoctorRunOptions = { readonly isAlone: boolean; readonly isRunning: boolean }

function createDiagnostics(context: AppContext, { isAlone, isRunning }: DoctorRunOptions): Diagnostics {
  const { system, settings } = context
  const { clock, random } = system
  const directory = settings.MAILKIND_DATA_DIR
  const database = createDatabaseDiagnostics(context)
  const url = settings.MAILKIND_SMTP_URL
  const token = `${system.processes.pid}.${Buffer.from(random(8)).toString("hex")}`
  const network = createNetworkDiagnostics(context)
  return {
    settings: async () => diagnoseSettings(settings, await database.nodes(), requestLogNotice(settings)),
    directory: async () => diagnoseDirectory(directory, token),
    disk: async () => diagnoseDisk(directory),
    descriptors: async () => diagnoseRunningDescriptors(context, isRunning),
    database: () => database.database(isAlone ? null : () => diagnoseDatabaseInChild(system)),
    backups: async () => diagnoseBackups(await backupSchedule(context), token),
    jobs: async () => diagnoseJobsFolder(jobsDirectory(settings), await database.jobsFolder(), token),
    dns: () => diagnoseDns(context),
    smtp: async () =>
      url === null
        ? skipped("MAILKIND_SMTP_URL is not set. No mail is sent.")
        : diagnoseMailServer(
            await checkSmtp(url.reveal(), senderOf(settings, settings.MAILKIND_BASE_URL ?? "http://localhost")),
            isMailProtected(url.reveal()),
          ),
    ...network.diagnostics,
    clock: async () =>
      diagnoseClock({
        listsAtMs: await listsBuiltAtMs(context),
        writtenAtMs: await database.lastWrittenAtMs(),
        ...(await database.trustedTime(isRunning)),
        serversAheadMs: await network.serversAheadMs(),
        nowMs: clock(),
      }),
    lists: () => diagnoseActiveLists(context),
    port: () => diagnoseListenPort(context, isRunning),
    outbox: () => database.outbox(clock()),
  }
}

const requestLogNotice = ({ MAILKIND_REQUEST_LOG }: Settings): string =>
  MAILKIND_REQUEST_LOG === "off"
    ? " MAILKIND_REQUEST_LOG is off. No request is logged, and servers delete logged ones."
    : ""

/** Looks at the limit of the running server. If none is expected to run, or its limit cannot be read, it looks at that of this process. */
function diagnoseRunningDescriptors(context: AppContext, isRunning: boolean): DiagnosticResult {
  const holder = isRunning ? portHolder(context.settings.MAILKIND_PORT) : null
  const max = holder === null ? 0 : descriptorsMaxOf(holder.pid)
  if (holder !== null && max > 0)
    return diagnoseServerDescriptors(
      context,
      max,
      `The process ${holder.pid} (${holder.name}), which listens on the port,`,
    )
  const own = diagnoseServerDescriptors(context)
  return isRunning && own.verdict !== "skipped" ? { ...own, seen: `${own.seen} ${NOT_SEEN}` } : own
}

const NOT_SEEN = "This user cannot see the limit of a server that runs: ask as its user, or as root."

/** Reading a whole database blocks a process for seconds, so a child process does it. */
async function diagnoseDatabaseInChild(system: System): Promise<DiagnosticResult> {
  const result = await system.processes.run(doctorArguments("database"), DIAGNOSTIC_TIMEOUT_MS - 1000)
  const found = parseDoctorOutput(parseJson(result?.stdout ?? ""))
  if (found !== null) return found
  if (result !== null) system.writeStderr(result.stderr)
  return failed(
    "It could not be read completely within a minute.",
    "Run `mailkind doctor --only database`. It has no time limit of other checks.",
  )
}

/** The result that the child process printed; `null` if it was killed before. */
function parseDoctorOutput(output: unknown): DiagnosticResult | null {
  const rows = ownMember(output, "examinations") as readonly DiagnosticResult[] | undefined // written by this program
  const row = rows?.[0]
  return row !== undefined && DIAGNOSTIC_STATUSES.includes(row.verdict)
    ? { verdict: row.verdict, seen: row.seen, remedy: row.remedy }
    : null
}

async function diagnoseDns(context: AppContext): Promise<DiagnosticResult> {
  if (isDnsOff(context.settings))
    return skipped("MAILKIND_DNS_SERVERS is off. Every verdict comes from the lists alone.")
  const { close, ...resolvers } = createServerResolvers(context)
  return await diagnoseResolvers({ ...resolvers, stopwatch: context.system.stopwatch }).finally(close)
}

/** Diagnostics that send HTTP requests, and how far the clocks of the servers that answered are ahead. */
function createNetworkDiagnostics(context: AppContext) {
  const { system, settings } = context
  const clockLeadsMs: number[] = []
  const fetchUrl: Fetch = async (url, options) => {
    const response = await system.fetchUrl(url, options)
    const leadMs = serverAheadMs(response.headers, system.clock())
    if (leadMs !== null) clockLeadsMs.push(leadMs)
    return response
  }
  const userAgent = formatUserAgent(settings)
  const documentDiagnostic =
    (endpoint: DiagnosedEndpoint, url: string, bounds: DownloadBounds, problemIn: (text: string) => string | null) =>
    async () =>
      settings.MAILKIND_OUTSIDE === "off"
        ? skipped(OUTSIDE_OFF)
        : await diagnoseDocument(
            endpoint,
            url,
            () => download({ ...system, fetchUrl, userAgent }, url, null, bounds),
            problemIn,
          )
  const { MAILKIND_RDAP_BOOTSTRAP_URL: rdapUrl, MAILKIND_SECRET_SCANNING_KEYS_URL: keysUrl } = settings
  const bootstrapProblem = (text: string): string | null => {
    const parsed = parseBootstrap(text, rdapUrl !== null)
    return parsed.kind === "refused" ? parsed.message : null
  }
  const keySetProblem = (text: string): string | null => (parseKeySet(text) === null ? "It has no key." : null)
  const documents = {
    rdap: [rdapEndpoint(rdapUrl !== null), rdapUrl ?? RDAP_BOOTSTRAP_URL, RDAP_BOOTSTRAP_BOUNDS, bootstrapProblem],
    leakKeys: [leakKeysEndpoint(keysUrl !== null), keysUrl ?? REPORTER_KEYS_URL, REPORTER_KEYS_BOUNDS, keySetProblem],
  } as const
  // Each is called twice: for its own result, and to learn the time of its server.
  const identity = lazy(createIdentityDiagnostic(context, fetchUrl))
  const [rdap, leakKeys] = [
    lazy(documentDiagnostic(...documents.rdap)),
    lazy(documentDiagnostic(...documents.leakKeys)),
  ]
  return {
    diagnostics: { identity, rdap, leak_keys: leakKeys },
    serversAheadMs: async () => {
      await Promise.allSettled([identity(), rdap(), leakKeys()])
      return clockLeadsMs
    },
  }
}

const rdapEndpoint = (isConfigured: boolean): DiagnosedEndpoint => ({
  setting: "MAILKIND_RDAP_BOOTSTRAP_URL",
  isConfigured,
  consequence: isConfigured ? "Without it, the age of domains is unknown." : "Until then the built-in copy is used.",
})

const leakKeysEndpoint = (isConfigured: boolean): DiagnosedEndpoint => ({
  setting: "MAILKIND_SECRET_SCANNING_KEYS_URL",
  isConfigured,
  consequence: "Without it, the server accepts no reports of leaked keys.",
})

function createIdentityDiagnostic(
  { system: { clock, setTimer }, settings }: AppContext,
  fetchUrl: Fetch,
): () => Promise<DiagnosticResult> {
  const operatorUrl = settings.MAILKIND_IDENTITY_URL
  if (settings.MAILKIND_OUTSIDE === "off") return async () => skipped(OUTSIDE_OFF)
  if (operatorUrl === "off") return async () => skipped("MAILKIND_IDENTITY_URL is off.")
  const endpoint = {
    setting: "MAILKIND_IDENTITY_URL",
    isConfigured: operatorUrl !== null,
    consequence: "Without it, tenants of suite_b are unknown.",
  }
  return async () => {
    const timeout = new AbortController()
    const cancelTimer = setTimer(IDENTITY_TIMEOUT_MS, () => timeout.abort())
    const request = (base: string) =>
      requestIdentity(fetchUrl, clock, openidConfigurationUrl(base, RESERVED_DOMAIN), timeout.signal)
    const bases = [...new Set(Object.values(identityUrls(operatorUrl)))]
    return await diagnoseIdentity(endpoint, bases, request).finally(cancelTimer)
  }
}

async function backupSchedule({ system, settings }: AppContext): Promise<BackupSchedule> {
  const { MAILKIND_BACKUP_DIR: directory, MAILKIND_BACKUP_HOURS: everyHours } = settings
  const nowMs = system.clock()
  const newestAtMs = directory === null ? null : await knownBackupAtMs(directory, nowMs)
  const litestream = settings.MAILKIND_DATABASE_URL === null ? diagnoseLitestream(sqliteFile(settings)) : null
  return { directory, everyHours, newestAtMs, nowMs, litestream }
}

const OUTSIDE_OFF = "MAILKIND_OUTSIDE is off."

async function listsBuiltAtMs(context: AppContext): Promise<number | null> {
  try {
    const opened = await openActivePack(context)
    return opened.kind === "open" ? Date.parse(opened.pack.builtAt) : null
  } catch (error) {
    if (error instanceof StartupError || errorCode(error) !== "no error") return null
    throw error
  }
}

async function diagnoseActiveLists(context: AppContext): Promise<DiagnosticResult> {
  const { system, settings } = context
  try {
    const opened = await openActivePack(context)
    const state = await readRefreshState(context)
    return diagnoseLists(opened, {
      state,
      damage: await readListsDamage(context),
      everyHours: refreshHours(settings),
      waiting: await readWaitingLists(context),
      nowMs: system.clock(),
    })
  } catch (error) {
    if (error instanceof StartupError) return failed("There are no lists.", error.message)
    return failed(
      `They cannot be read (${errorCode(error)}).`,
      "Make the data directory and its files readable for this user.",
    )
  }
}

async function diagnoseListenPort({ system, settings }: AppContext, isRunning: boolean): Promise<DiagnosticResult> {
  const timeout = new AbortController()
  const cancelTimer = system.setTimer(HEALTH_TIMEOUT_MS, () => timeout.abort())
  const port = {
    host: settings.MAILKIND_HOST,
    port: settings.MAILKIND_PORT,
    isOffline: isDnsOff(settings),
    isRunning,
    dataDirectory: resolve(settings.MAILKIND_DATA_DIR),
  }
  const look = { listenError: () => listenError(settings), isServedFrom: () => isServedFrom(system, port) }
  return await diagnosePort(port, system.fetchUrl, timeout.signal, look).finally(cancelTimer)
}

/** Why the server could not listen, in the words of the system; `null` if it could. */
function listenError({ MAILKIND_HOST: hostname, MAILKIND_PORT: port }: Settings): string | null {
  try {
    assertPortFree(hostname, port)
    return null
  } catch (error) {
    if (error instanceof StartupError) return error.message.replace(/^.*?: | Set MAILKIND.*$/g, "").replace(/\.$/, "")
    throw error
  }
}

/** Diagnostics of the database, SQLite or PostgreSQL. */
type DatabaseDiagnostics = {
  /** `inChild` does the work in a child process where it would block this one for too long. */
  readonly database: (inChild: (() => Promise<DiagnosticResult>) | null) => Promise<DiagnosticResult>
  readonly outbox: (nowMs: number) => Promise<DiagnosticResult>
  /** When it was last written; `null` if that is unknown. */
  readonly lastWrittenAtMs: () => Promise<number | null>
  /** What the database says of the time. */
  readonly trustedTime: (isRunning: boolean) => Promise<Pick<ClockReferences, "databaseAheadMs" | "trusted">>
  /** What it knows of the folder with the lists of jobs; `null` if there is no database, or it cannot be read. */
  readonly jobsFolder: () => Promise<StoredFolder | null>
  /** The nodes that share it, as far as it can be read. */
  readonly nodes: () => Promise<PostgresStatus["nodes"]>
}

function createDatabaseDiagnostics(context: AppContext): DatabaseDiagnostics {
  const { settings, system } = context
  const { clock, random } = system
  const { MAILKIND_DATABASE_URL: url, MAILKIND_DATABASE_LISTEN_URL: listenUrl, MAILKIND_SMTP_URL: smtp } = settings
  const [processes, hasServer] = [workerCountOf(context), smtp !== null]
  if (url === null) {
    const path = sqliteFile(settings)
    return {
      database: async inChild => (inChild === null ? diagnoseSqlite(path, system.hostState) : await inChild()),
      outbox: async nowMs => diagnoseSqliteOutbox(path, nowMs, hasServer),
      lastWrittenAtMs: async () => sqliteLastWrittenAtMs(path),
      trustedTime: async isServing => {
        const stored = sqliteTrustedTime(path)
        return { databaseAheadMs: null, trusted: stored && { ...stored, isServing } }
      },
      jobsFolder: async () => sqliteJobsFolder(path),
      nodes: async () => [],
    }
  }
  // Its name is random, so that no other process listens on it.
  const channel = `mailkind_doctor_${Buffer.from(random(8)).toString("hex")}`
  const notifications = {
    hasListenUrl: listenUrl !== null,
    arrive: () => receivesNotifications(url.reveal(), (listenUrl ?? url).reveal(), channel),
  }
  const status = lazy(async () => {
    const found = await readPostgresStatus(url.reveal())
    return { ...found, clockAheadMs: found.clockAtMs - clock() }
  })
  const statusOrNull = async () => {
    try {
      return await status()
    } catch (error) {
      // The diagnostic of the database reports the error.
      if (error instanceof StoreError) return null
      throw error
    }
  }
  return {
    database: () => diagnosePostgres(status(), processes, notifications),
    outbox: () => diagnosePostgresOutbox(status(), hasServer),
    lastWrittenAtMs: async () => (await statusOrNull())?.lastWrittenAtMs ?? null,
    trustedTime: async () => ({ databaseAheadMs: (await statusOrNull())?.clockAheadMs ?? null, trusted: null }),
    jobsFolder: async () => {
      const found = await statusOrNull()
      return found && { mark: found.jobsFolderMark, isShared: true }
    },
    nodes: async () => (await statusOrNull())?.nodes ?? [],
  }
}
