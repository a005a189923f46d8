import { join } from "node:path"
import { errorCode } from "../base/errors.ts"
import type { Fetch } from "../base/fetch.ts"
import { parseJson } from "../base/text.ts"
import { parseBootstrap } from "../check/age/rdap-bootstrap.ts"
import { type DownloadBounds, download } from "../check/fetch/download.ts"
import { identityUrls, requestIdentity } from "../check/tenant/identity-endpoint.ts"
import { openidConfigurationUrl } from "../check/tenant/tenant-lookup.ts"
import { doctorArguments, type RunDoctor } from "../cli/doctor.ts"
import { parseSettings, type Settings } from "../config/settings.ts"
import { checkSmtp } from "../customers/notices/smtp-mailer.ts"
import { StoreError } from "../customers/store/core/store-error.ts"
import { type PostgresStatus, readPostgresStatus } from "../customers/store/postgres/postgres-status.ts"
import { diagnoseClock, serverAheadMs } from "../doctor/clock.ts"
import {
  diagnosePostgres,
  diagnosePostgresOutbox,
  diagnoseSqlite,
  diagnoseSqliteOutbox,
  sqliteLastWrittenAtMs,
} from "../doctor/database.ts"
import {
  DIAGNOSTIC_STATUSES,
  DIAGNOSTIC_TIMEOUT_MS,
  type DiagnosticResult,
  type Diagnostics,
  failed,
  ok,
  runDiagnostics,
  skipped,
} from "../doctor/diagnostics.ts"
import { diagnoseDirectory, diagnoseDisk } from "../doctor/directory.ts"
import { diagnoseLists } from "../doctor/lists.ts"
import {
  type DiagnosedEndpoint,
  diagnoseDocument,
  diagnoseIdentity,
  diagnoseMailServer,
  diagnoseResolvers,
} from "../doctor/network.ts"
import { diagnosePort, HEALTH_TIMEOUT_MS } from "../doctor/port.ts"
import { parseKeySet } from "../http/hooks/reporter-keys.ts"
import { assertPortFree } from "../process/http-listener.ts"
import { StartupError } from "../process/startup-error.ts"
import type { System } from "../system/system.ts"
import { RDAP_BOOTSTRAP_BOUNDS, RDAP_BOOTSTRAP_URL } from "./check/deep-checks.ts"
import { openActivePack, readRefreshState } from "./check/lists.ts"
import { createServerResolvers } from "./check/network.ts"
import { REPORTER_KEYS_BOUNDS, REPORTER_KEYS_URL } from "./customers/leak-reports.ts"
import { formatUserAgent } from "./server.ts"

/** How long an identity endpoint may take, as for a check. */
const IDENTITY_TIMEOUT_MS = 5000
/** A domain that belongs to nobody whom a look-up could concern (RFC 2606 §3). */
const RESERVED_DOMAIN = "example.com"

/** What looks at all that a server of these settings needs, beside one that runs. */
export function createDoctor(world: System): RunDoctor {
  return async (names, isRunning) => {
    const read = parseSettings(world.environment)
    const examiners =
      read.kind === "read"
        ? createDiagnostics(world, read.settings, { isAlone: names.length === 1, isRunning })
        : invalidSettingsDiagnostics(read.faults)
    return await runDiagnostics(examiners, names, world.setTimer)
  }
}

/** Nothing else can be looked at: where it is, the settings would say. */
function invalidSettingsDiagnostics(faults: readonly string[]): Diagnostics {
  const none = async () => skipped("The settings are faulty.")
  const settings = async () =>
    failed(`${faults.join(". ")}.`, "Mend the environment; `mailkind help settings` lists them.")
  return {
    settings,
    ...{ directory: none, disk: none, database: none, dns: none, clock: none, smtp: none, identity: none },
    ...{ rdap: none, leak_keys: none, lists: none, port: none, outbox: none },
  }
}

/** `isAlone`: this process looks at one thing, and may do so however long that keeps it. */
type DoctorRunOptions = { readonly isAlone: boolean; readonly isRunning: boolean }

function createDiagnostics(world: System, settings: Settings, { isAlone, isRunning }: DoctorRunOptions): Diagnostics {
  const { clock, random } = world
  const directory = settings.MAILKIND_DATA_DIR
  const database = createDatabaseDiagnostics(settings)
  const url = settings.MAILKIND_SMTP_URL
  const token = `${world.processes.pid}.${Buffer.from(random(8)).toString("hex")}`
  const outside = createNetworkDiagnostics(world, settings)
  return {
    settings: async () => ok("All that are set are known, and can be read."),
    directory: async () => diagnoseDirectory(directory, token),
    disk: async () => diagnoseDisk(directory),
    database: () => database.database(isAlone ? null : () => diagnoseDatabaseInChild(world)),
    dns: () => diagnoseDns(world, settings),
    smtp: async () =>
      url === null
        ? skipped("MAILKIND_SMTP_URL is not set: no mail is sent.")
        : diagnoseMailServer(await checkSmtp(url.reveal())),
    ...outside.examiners,
    clock: async () =>
      diagnoseClock({
        listsAtMs: await listsBuiltAtMs(world, settings),
        writtenAtMs: await database.lastWrittenAtMs(),
        serversAheadMs: await outside.aheadMs(),
        nowMs: clock(),
      }),
    lists: () => diagnoseActiveLists(world, settings),
    port: () => diagnoseListenPort(world, settings, isRunning),
    outbox: () => database.outbox(clock()),
  }
}

/** To read a database whole keeps a process for seconds, in which it hears no server: another one does. */
async function diagnoseDatabaseInChild(world: System): Promise<DiagnosticResult> {
  const ended = await world.processes.run(doctorArguments("database"), DIAGNOSTIC_TIMEOUT_MS - 1000)
  const row = parseDoctorOutput(parseJson(ended?.stdout ?? ""))
  return (
    row ??
    failed(
      "It could not be read whole within a minute.",
      "Run `mailkind doctor --only database`, which takes the same time and no other test beside it.",
    )
  )
}

/** What this same program has printed; null: it was killed before. */
function parseDoctorOutput(printed: unknown): DiagnosticResult | null {
  const { examinations } =
    printed === null || typeof printed !== "object" ? {} : (printed as { examinations?: readonly DiagnosticResult[] }) // our own writing
  const row = examinations?.[0]
  return row !== undefined && DIAGNOSTIC_STATUSES.includes(row.verdict)
    ? { verdict: row.verdict, seen: row.seen, remedy: row.remedy }
    : null
}

async function diagnoseDns(world: System, settings: Settings): Promise<DiagnosticResult> {
  if (settings.MAILKIND_DNS_SERVERS.includes("off"))
    return skipped("MAILKIND_DNS_SERVERS is off: every verdict rests on lists alone.")
  const { servers, canaries, end } = createServerResolvers(world, settings)
  return await diagnoseResolvers(servers, canaries).finally(end)
}

/** What asks the web; the times that its servers tell are known when all have been asked. */
function createNetworkDiagnostics(world: System, settings: Settings) {
  const heard: number[] = []
  const fetchUrl: Fetch = async (url, options) => {
    const response = await world.fetchUrl(url, options)
    const ahead = serverAheadMs(response.headers, world.clock())
    if (ahead !== null) heard.push(ahead)
    return response
  }
  const userAgent = formatUserAgent(settings)
  const documentAt =
    (endpoint: DiagnosedEndpoint, url: string, bounds: DownloadBounds, read: (text: string) => string | null) => () =>
      diagnoseDocument(endpoint, url, () => download({ ...world, fetchUrl, userAgent }, url, null, bounds), read)
  const { MAILKIND_RDAP_BOOTSTRAP_URL: rdapUrl, MAILKIND_SECRET_SCANNING_KEYS_URL: keysUrl } = settings
  const rdap = documentAt(
    rdapEndpoint(rdapUrl !== null),
    rdapUrl ?? RDAP_BOOTSTRAP_URL,
    RDAP_BOOTSTRAP_BOUNDS,
    text => {
      const read = parseBootstrap(text, rdapUrl !== null)
      return read.kind === "refused" ? read.message : null
    },
  )
  const keys = documentAt(
    leakKeysEndpoint(keysUrl !== null),
    keysUrl ?? REPORTER_KEYS_URL,
    REPORTER_KEYS_BOUNDS,
    text => (parseKeySet(text) === null ? "It holds no key." : null),
  )
  const once = [createIdentityDiagnostic(world, settings, fetchUrl), rdap, keys].map(lazy)
  const [identity = rdap, rdapOnce = rdap, keysOnce = keys] = once
  return {
    examiners: { identity, rdap: rdapOnce, leak_keys: keysOnce },
    aheadMs: async () => {
      await Promise.allSettled(once.map(look => look()))
      return heard
    },
  }
}

const rdapEndpoint = (isConfigured: boolean): DiagnosedEndpoint => ({
  setting: "MAILKIND_RDAP_BOOTSTRAP_URL",
  isConfigured,
  consequence: isConfigured ? "Without it no domain's age is known." : "Until then the copy serves that came along.",
})

const leakKeysEndpoint = (isConfigured: boolean): DiagnosedEndpoint => ({
  setting: "MAILKIND_SECRET_SCANNING_KEYS_URL",
  isConfigured,
  consequence: "Without it no report of a leaked key is believed.",
})

function createIdentityDiagnostic(
  { clock, setTimer }: System,
  { MAILKIND_IDENTITY_URL: own }: Settings,
  web: Fetch,
): () => Promise<DiagnosticResult> {
  if (own === "off") return async () => skipped("MAILKIND_IDENTITY_URL is off.")
  const endpoint = {
    setting: "MAILKIND_IDENTITY_URL",
    isConfigured: own !== null,
    consequence: "Without it no tenant of suite_b is known.",
  }
  return async () => {
    const deadline = new AbortController()
    const callOff = setTimer(IDENTITY_TIMEOUT_MS, () => deadline.abort())
    const ask = (base: string) =>
      requestIdentity(web, clock, openidConfigurationUrl(base, RESERVED_DOMAIN), deadline.signal)
    return await diagnoseIdentity(endpoint, [...new Set(Object.values(identityUrls(own)))], ask).finally(callOff)
  }
}

/** Whoever looks, it is asked once. */
function lazy<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null
  return () => {
    underWay ??= work()
    return underWay
  }
}

async function listsBuiltAtMs(world: System, settings: Settings): Promise<number | null> {
  try {
    const opened = await openActivePack(world, settings)
    return opened.kind === "open" ? Date.parse(opened.pack.builtAt) : null
  } catch (fault) {
    if (fault instanceof StartupError || errorCode(fault) !== "no error") return null
    throw fault
  }
}

async function diagnoseActiveLists(world: System, settings: Settings): Promise<DiagnosticResult> {
  try {
    const hours = settings.MAILKIND_LISTS_REFRESH_HOURS
    const [opened, state] = [await openActivePack(world, settings), await readRefreshState(world, settings)]
    return diagnoseLists(opened, { state, everyHours: hours === "off" ? null : hours, nowMs: world.clock() })
  } catch (fault) {
    if (fault instanceof StartupError) return failed("There are no lists.", fault.message)
    return failed(
      `They cannot be read (${errorCode(fault)}).`,
      "Make the data directory and the files in it readable for this user.",
    )
  }
}

async function diagnoseListenPort(world: System, settings: Settings, isRunning: boolean): Promise<DiagnosticResult> {
  const deadline = new AbortController()
  const callOff = world.setTimer(HEALTH_TIMEOUT_MS, () => deadline.abort())
  const place = {
    host: settings.MAILKIND_HOST,
    port: settings.MAILKIND_PORT,
    isOffline: settings.MAILKIND_DNS_SERVERS.includes("off"),
    isRunning,
  }
  return await diagnosePort(place, world.fetchUrl, deadline.signal, () => listenError(settings)).finally(callOff)
}

function listenError(settings: Settings): string | null {
  try {
    assertPortFree(settings)
    return null
  } catch (refused) {
    if (refused instanceof StartupError)
      return refused.message.replace(/^.*?: | Set MAILKIND.*$/g, "").replace(/\.$/, "")
    throw refused
  }
}

/** What looks at the database of some settings, whichever engine it is of. */
type DatabaseDiagnostics = {
  /** `elsewhere` looks in another process, where a look would keep this one too long. */
  readonly database: (elsewhere: (() => Promise<DiagnosticResult>) | null) => Promise<DiagnosticResult>
  readonly outbox: (nowMs: number) => Promise<DiagnosticResult>
  /** When it was last written, as far as it tells. */
  readonly lastWrittenAtMs: () => Promise<number | null>
}

/** Builds them. PostgreSQL is looked into once for all. */
function createDatabaseDiagnostics({
  MAILKIND_DATABASE_URL: url,
  MAILKIND_DATA_DIR: directory,
  MAILKIND_SMTP_URL: smtp,
}: Settings): DatabaseDiagnostics {
  const hasServer = smtp !== null
  if (url === null) {
    const path = join(directory, "mailkind.sqlite")
    return {
      database: async elsewhere => (elsewhere === null ? diagnoseSqlite(path) : await elsewhere()),
      outbox: async nowMs => diagnoseSqliteOutbox(path, nowMs, hasServer),
      lastWrittenAtMs: async () => sqliteLastWrittenAtMs(path),
    }
  }
  let look: Promise<PostgresStatus> | null = null
  const looking = (): Promise<PostgresStatus> => {
    look ??= readPostgresStatus(url.reveal())
    return look
  }
  return {
    database: () => diagnosePostgres(looking()),
    outbox: nowMs => diagnosePostgresOutbox(looking(), nowMs, hasServer),
    lastWrittenAtMs: async () => {
      try {
        return (await looking()).lastWrittenAtMs
      } catch (fault) {
        // What is wrong with it is told where the database is.
        if (fault instanceof StoreError) return null
        throw fault
      }
    },
  }
}
