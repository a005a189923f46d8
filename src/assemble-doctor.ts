import { agentOf } from "./assemble.ts"
import { BOOTSTRAP_BOUNDS, BOOTSTRAP_URL } from "./assemble-deep.ts"
import { databaseExaminers } from "./assemble-doctor-database.ts"
import { KEYS_BOUNDS, KEYS_URL } from "./assemble-leaks.ts"
import { packInPlace, refreshState } from "./assemble-lists.ts"
import { serversAlone } from "./assemble-outside.ts"
import { faultCode } from "./base/fault-code.ts"
import { jsonIn } from "./base/json.ts"
import type { Web } from "./base/web.ts"
import { CannotStart } from "./cannot-start.ts"
import { identityUrls } from "./check/probes/identity-endpoint.ts"
import { askIdentity } from "./check/probes/identity-request.ts"
import { openidConfigurationUrl } from "./check/probes/openid-configuration.ts"
import { readBootstrap } from "./check/probes/rdap-bootstrap.ts"
import { type DownloadBounds, download } from "./check/refresh/download.ts"
import { alone, type Doctor } from "./cli/doctor.ts"
import { readSettings, type Settings } from "./config/settings.ts"
import { trySmtp } from "./customers/notices/smtp-trial.ts"
import { examineDirectory, examineDisk } from "./doctor/directory.ts"
import { type Endpoint, examineDocument, examineIdentity } from "./doctor/endpoints.ts"
import { EXAMINATION_MS_MAX, type Examiners, examine } from "./doctor/examinations.ts"
import { type Examined, failing, skipped, VERDICTS, well } from "./doctor/examined.ts"
import { examineLists } from "./doctor/fresh-lists.ts"
import { examineMailServer } from "./doctor/mail-server.ts"
import { examinePort, HEALTH_MS_MAX } from "./doctor/port.ts"
import { examineResolvers } from "./doctor/resolvers.ts"
import { aheadOf, examineTime } from "./doctor/time.ts"
import { readKeySet } from "./http/hooks/reporter-key-set.ts"
import { refuseTakenPort } from "./listening.ts"
import type { World } from "./world.ts"

/** How long an identity endpoint may take, as for a check. */
const IDENTITY_MS_MAX = 5000
/** A domain that belongs to nobody whom a look-up could concern (RFC 2606 §3). */
const NOBODYS_DOMAIN = "example.com"

/** What looks at all that a server of these settings needs, beside one that runs. */
export function doctorOf(world: World): Doctor {
  return async (names, isRunning) => {
    const read = readSettings(world.environment)
    const examiners =
      read.kind === "read"
        ? examinersOf(world, read.settings, { isAlone: names.length === 1, isRunning })
        : faultyExaminers(read.faults)
    return await examine(examiners, names, world.later)
  }
}

/** Nothing else can be looked at: where it is, the settings would say. */
function faultyExaminers(faults: readonly string[]): Examiners {
  const none = async () => skipped("The settings are faulty.")
  const settings = async () =>
    failing(`${faults.join(". ")}.`, "Mend the environment; `mailkind help settings` lists them.")
  return {
    settings,
    ...{ directory: none, disk: none, database: none, dns: none, clock: none, smtp: none, identity: none },
    ...{ rdap: none, leak_keys: none, lists: none, port: none, outbox: none },
  }
}

/** `isAlone`: this process looks at one thing, and may do so however long that keeps it. */
type Wanted = { readonly isAlone: boolean; readonly isRunning: boolean }

function examinersOf(world: World, settings: Settings, { isAlone, isRunning }: Wanted): Examiners {
  const { clock, random } = world
  const directory = settings.MAILKIND_DATA_DIR
  const database = databaseExaminers(settings)
  const url = settings.MAILKIND_SMTP_URL
  const token = `${world.others.pid}.${Buffer.from(random(8)).toString("hex")}`
  const outside = outsideExaminers(world, settings)
  return {
    settings: async () => well("All that are set are known, and can be read."),
    directory: async () => examineDirectory(directory, token),
    disk: async () => examineDisk(directory),
    database: () => database.database(isAlone ? null : () => elsewhere(world)),
    dns: () => dnsExamined(world, settings),
    smtp: async () =>
      url === null
        ? skipped("MAILKIND_SMTP_URL is not set: no mail is sent.")
        : examineMailServer(await trySmtp(url.reveal())),
    ...outside.examiners,
    clock: async () =>
      examineTime({
        listsAtMs: await listsAtMs(world, settings),
        writtenAtMs: await database.writtenAtMs(),
        aheadMs: await outside.aheadMs(),
        nowMs: clock(),
      }),
    lists: () => listsExamined(world, settings),
    port: () => portExamined(world, settings, isRunning),
    outbox: () => database.outbox(clock()),
  }
}

/** To read a database whole keeps a process for seconds, in which it hears no server: another one does. */
async function elsewhere(world: World): Promise<Examined> {
  const ended = await world.others.run(alone("database"), EXAMINATION_MS_MAX - 1000)
  const row = rowIn(jsonIn(ended?.out ?? ""))
  return (
    row ??
    failing(
      "It could not be read whole within a minute.",
      "Run `mailkind doctor --only database`, which takes the same time and no other test beside it.",
    )
  )
}

/** What this same program has printed; null: it was killed before. */
function rowIn(printed: unknown): Examined | null {
  const { examinations } =
    printed === null || typeof printed !== "object" ? {} : (printed as { examinations?: readonly Examined[] }) // our own writing
  const row = examinations?.[0]
  return row !== undefined && VERDICTS.includes(row.verdict)
    ? { verdict: row.verdict, seen: row.seen, remedy: row.remedy }
    : null
}

async function dnsExamined(world: World, settings: Settings): Promise<Examined> {
  if (settings.MAILKIND_DNS_SERVERS.includes("off"))
    return skipped("MAILKIND_DNS_SERVERS is off: every verdict rests on lists alone.")
  const { servers, canaries, end } = serversAlone(world, settings)
  return await examineResolvers(servers, canaries).finally(end)
}

/** What asks the web; the times that its servers tell are known when all have been asked. */
function outsideExaminers(world: World, settings: Settings) {
  const heard: number[] = []
  const web: Web = async (url, options) => {
    const response = await world.web(url, options)
    const ahead = aheadOf(response.headers, world.clock())
    if (ahead !== null) heard.push(ahead)
    return response
  }
  const agent = agentOf(settings)
  const documentAt =
    (endpoint: Endpoint, url: string, bounds: DownloadBounds, read: (text: string) => string | null) => () =>
      examineDocument(endpoint, url, () => download({ ...world, web, agent }, url, null, bounds), read)
  const { MAILKIND_RDAP_BOOTSTRAP_URL: rdapUrl, MAILKIND_SECRET_SCANNING_KEYS_URL: keysUrl } = settings
  const rdap = documentAt(RDAP(rdapUrl !== null), rdapUrl ?? BOOTSTRAP_URL, BOOTSTRAP_BOUNDS, text => {
    const read = readBootstrap(text, rdapUrl !== null)
    return read.kind === "refused" ? read.says : null
  })
  const keys = documentAt(LEAK_KEYS(keysUrl !== null), keysUrl ?? KEYS_URL, KEYS_BOUNDS, text =>
    readKeySet(text) === null ? "It holds no key." : null,
  )
  const once = [identityExaminer(world, settings, web), rdap, keys].map(onceOnly)
  const [identity = rdap, rdapOnce = rdap, keysOnce = keys] = once
  return {
    examiners: { identity, rdap: rdapOnce, leak_keys: keysOnce },
    aheadMs: async () => {
      await Promise.allSettled(once.map(look => look()))
      return heard
    },
  }
}

const RDAP = (isOwn: boolean): Endpoint => ({
  setting: "MAILKIND_RDAP_BOOTSTRAP_URL",
  isOwn,
  without: isOwn ? "Without it no domain's age is known." : "Until then the copy serves that came along.",
})

const LEAK_KEYS = (isOwn: boolean): Endpoint => ({
  setting: "MAILKIND_SECRET_SCANNING_KEYS_URL",
  isOwn,
  without: "Without it no report of a leaked key is believed.",
})

function identityExaminer(
  { clock, later }: World,
  { MAILKIND_IDENTITY_URL: own }: Settings,
  web: Web,
): () => Promise<Examined> {
  if (own === "off") return async () => skipped("MAILKIND_IDENTITY_URL is off.")
  const endpoint = {
    setting: "MAILKIND_IDENTITY_URL",
    isOwn: own !== null,
    without: "Without it no tenant of suite_b is known.",
  }
  return async () => {
    const deadline = new AbortController()
    const callOff = later(IDENTITY_MS_MAX, () => deadline.abort())
    const ask = (base: string) => askIdentity(web, clock, openidConfigurationUrl(base, NOBODYS_DOMAIN), deadline.signal)
    return await examineIdentity(endpoint, [...new Set(Object.values(identityUrls(own)))], ask).finally(callOff)
  }
}

/** Whoever looks, it is asked once. */
function onceOnly<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null
  return () => {
    underWay ??= work()
    return underWay
  }
}

async function listsAtMs(world: World, settings: Settings): Promise<number | null> {
  try {
    const opened = await packInPlace(world, settings)
    return opened.kind === "open" ? Date.parse(opened.pack.builtAt) : null
  } catch (fault) {
    if (fault instanceof CannotStart || faultCode(fault) !== "no error") return null
    throw fault
  }
}

async function listsExamined(world: World, settings: Settings): Promise<Examined> {
  try {
    const hours = settings.MAILKIND_LISTS_REFRESH_HOURS
    const [opened, state] = [await packInPlace(world, settings), await refreshState(world, settings)]
    return examineLists(opened, { state, everyHours: hours === "off" ? null : hours, nowMs: world.clock() })
  } catch (fault) {
    if (fault instanceof CannotStart) return failing("There are no lists.", fault.message)
    return failing(
      `They cannot be read (${faultCode(fault)}).`,
      "Make the data directory and the files in it readable for this user.",
    )
  }
}

async function portExamined(world: World, settings: Settings, isRunning: boolean): Promise<Examined> {
  const deadline = new AbortController()
  const callOff = world.later(HEALTH_MS_MAX, () => deadline.abort())
  const place = {
    host: settings.MAILKIND_HOST,
    port: settings.MAILKIND_PORT,
    isOffline: settings.MAILKIND_DNS_SERVERS.includes("off"),
    isRunning,
  }
  return await examinePort(place, world.web, deadline.signal, () => refusalOf(settings)).finally(callOff)
}

function refusalOf(settings: Settings): string | null {
  try {
    refuseTakenPort(settings)
    return null
  } catch (refused) {
    if (refused instanceof CannotStart)
      return refused.message.replace(/^.*?: | Set MAILKIND.*$/g, "").replace(/\.$/, "")
    throw refused
  }
}
