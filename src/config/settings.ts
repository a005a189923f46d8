import { isIP } from "node:net"
import { distance } from "fastest-levenshtein"
import { LOG_LEVELS } from "../base/log-level.ts"
import { choice, integer, integerOrAuto, integerOrOff, list, type Setting, secret, text, url, urlMap } from "./setting-types.ts"

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/
const TEST_DOMAIN = new RegExp(`^off$|${HOST_NAME.source}`)
const LISTEN_HOST = /^[A-Za-z0-9.:-]{1,253}$/
const METRICS_ADDRESS = /^off$|^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/
const TIER_LIMITS = /^[0-4]=(?:[1-9]\d{0,8}|-)\/(?:[1-9]\d{0,8}|-)\/(?:[1-9]\d{0,11}|-)$/
const SMTP_URL = /^smtps?:\/\/(?:[^\s@/?#:]+(?::[^\s@/?#]*)?@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?\/?(?:\?tls=required)?$/
const POSTGRES_URL = /^postgres(?:ql)?:\/\/(?:[^\s@/?#]+@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?\/[^\s/?#]+(?:\?[^\s#]*)?$/
const MAIL_FROM = /^[^\s@,<>"]+@[^\s@,<>"]+$|^(?:[^\p{Cc}<>,"@]*|"[^\p{Cc}"\\]*"\s*)<[^\s@,<>"]+@[^\s@,<>"]+>$/u
const FIRST_KEY = /^svc_live_[0-9A-Za-z]{38}$/
const EMAIL = /^[^\s@,]{1,64}@[^\s@,]{1,253}$/

/** With more, dozens of workers would share each core. */
const WORKERS_MAX = 128

/** Every setting. `help settings` and the guide print this table. */
export const SETTINGS = {
  MAILKIND_CONFIG: text({ description: "TOML file with settings, under their names in lower case without `mailkind_`. The same as `--config`.", defaultValue: null, pattern: /^[^\0]+$/, expected: "a path" }),
  MAILKIND_HOST: text({ flag: "--host <address>", description: "Address to listen on.", defaultValue: "127.0.0.1", pattern: LISTEN_HOST, expected: "a host name or an IP address" }),
  MAILKIND_PORT: integer({ flag: "--port <number>", description: "TCP port to listen on. 0 picks a free one, and the first line prints it.", defaultValue: 8080, min: 0, max: 65_535 }),
  MAILKIND_WORKERS: integerOrAuto({ flag: "--workers <n>", description: "How many processes share the port, or `auto` for one on each core.", defaultValue: 1, min: 1, max: WORKERS_MAX }),
  MAILKIND_BASE_URL: url({ flag: "--base-url <url>", description: "Public base address, used in links and error types.", defaultValue: null, defaultText: "from host and port", schemes: ["http", "https"] }),
  MAILKIND_DATA_DIR: text({ flag: "--data-dir <directory>", description: "Directory of the database and the unpacked lists. It is created with mode 0700.", defaultValue: "./mailkind-data", pattern: /^[^\0]+$/, expected: "a path" }),
  MAILKIND_DATABASE_URL: secret({
    description: "A PostgreSQL database that many hosts share, as `postgres://user:password@host:port/name`. Without it, SQLite in the data directory.",
    defaultValue: null,
    pattern: POSTGRES_URL,
    expected: "postgres://, optionally a user and a password, percent-encoded, a host, optionally a port, and the name of a database",
  }),
  MAILKIND_DATABASE_LISTEN_URL: secret({
    isAdvanced: true,
    description: "The address of the PostgreSQL server itself, for notifications alone, where that of `MAILKIND_DATABASE_URL` is a pooler's. Without it, changes on other nodes are noticed within a second instead of at once.",
    defaultValue: null,
    pattern: POSTGRES_URL,
    expected: "the same as MAILKIND_DATABASE_URL",
  }),
  MAILKIND_NODE_URL: url({ isAdvanced: true, description: "Address at which the other servers of a PostgreSQL database reach this one, such as `http://10.0.0.11:8080`. By it a server that is cut off from the database learns that others are not (`/v1/health?ready=1`).", defaultValue: null, schemes: ["http", "https"] }),
  MAILKIND_DATABASE_WAIT_S: integer({ isAdvanced: true, description: "How long a start waits in all for a database that is away, in seconds.", defaultValue: 60, min: 0, max: 86_400 }),
  MAILKIND_SLOW_MS: integerOrOff({ isAdvanced: true, isReloaded: true, description: "Logs an answer as slow from so many milliseconds, or `off`.", defaultValue: 1000, min: 1, max: 60_000 }),
  MAILKIND_STOP_DELAY_MS: integer({ isAdvanced: true, isReloaded: true, description: "How long after SIGTERM everything is still served while `/v1/health` answers 503, in milliseconds, so that a load balancer can turn away.", defaultValue: 0, min: 0, max: 600_000 }),
  MAILKIND_BACKUP_DIR: text({ description: "Existing directory into which the server backs up its SQLite database on schedule. Without it, it makes no backups.", defaultValue: null, pattern: /^[^\0]+$/, expected: "a path" }),
  MAILKIND_BACKUP_HOURS: integer({ description: "Hours between two backups. Those of the last week are kept, and at least seven.", defaultValue: 24, min: 1, max: 8760 }),
  MAILKIND_TEST_DOMAIN: text({ isAdvanced: true, description: "Domain of the test addresses, which need no key. `off`: no address is one, with or without a key.", defaultValue: "mailkind.test", pattern: TEST_DOMAIN, expected: "a lower-case domain name of two labels or more, or off" }),
  MAILKIND_DNS_SERVERS: list({ flag: "--dns-servers <list>", description: "DNS servers as `address[:port]`. `off` switches DNS off.", defaultValue: [], defaultText: "the system's", allowsOff: true, isMember: isDnsServer, expected: "a comma list of IP addresses with optional ports, or off" }),
  MAILKIND_DNS_TIMEOUT_MS: integer({ isAdvanced: true, description: "Time limit of one DNS question, in milliseconds.", defaultValue: 1500, min: 50, max: 10_000 }),
  MAILKIND_CHECK_TIMEOUT_MS: integer({ isAdvanced: true, description: "Time limit of all network requests of one check, in milliseconds.", defaultValue: 3000, min: 50, max: 30_000 }),
  MAILKIND_DNS_CANARIES: list({
    isAdvanced: true,
    description: "Names that a working resolver must know. If it denies them all, DNS counts as unavailable. `off` trusts the resolver.",
    defaultValue: ["cloudflare.com", "google.com", "wikipedia.org"],
    allowsOff: true,
    isMember: name => HOST_NAME.test(name),
    expected: "a comma list of domain names, or off",
  }),
  MAILKIND_OUTSIDE: choice({
    description: "`off` sends nothing to other hosts but DNS questions and what goes to the database and the mail server that are set. Lists are refreshed from files alone. There are no tenant look-ups, deep checks, callbacks and leak reports.",
    defaultValue: "on",
    options: ["on", "off"],
  }),
  MAILKIND_IDENTITY_URL: url({ isAdvanced: true, description: "Base address of the suite_b tenant look-up, or `off`.", defaultValue: null, defaultText: "the real one", schemes: ["https", "http"], allowsOff: true }),
  MAILKIND_LISTS_REFRESH_HOURS: integerOrOff({ description: "Hours between two refreshes of the lists. `off` never downloads.", defaultValue: 24, min: 1, max: 8760 }),
  MAILKIND_LISTS_DELAY_HOURS: integer({ isAdvanced: true, description: "Of nodes over PostgreSQL, how many hours after their build this one uses new lists, unless `lists release` is run before. With 0 on one node, the canary, and more on the others, it uses them first.", defaultValue: 0, min: 0, max: 168 }),
  MAILKIND_LISTS_SOURCES: urlMap({
    isReloaded: true,
    description: "Mirrors of list sources, as `source=URL`, also of files as `source=file:///path`. An unknown source name adds your own list of disposable domains: one domain on each line, a hosts file, or the rules of an ad blocker.",
    defaultValue: new Map(),
    defaultText: "their own addresses",
    namePattern: /^[a-z0-9]+(-[a-z0-9]+)*$/,
    schemes: ["https", "http", "file"],
  }),
  MAILKIND_RDAP_BOOTSTRAP_URL: url({ isAdvanced: true, description: "Address of the RDAP bootstrap file (RFC 9224).", defaultValue: null, defaultText: "the real one", schemes: ["https", "http"] }),
  MAILKIND_SECRET_SCANNING_KEYS_URL: url({ isAdvanced: true, description: "Address of the leak reporter's public keys, with https, or http on loopback.", defaultValue: null, defaultText: "the real one", schemes: ["https", "http"] }),
  MAILKIND_SMTP_URL: secret({
    description: "Mail server as `smtp://user:password@host:port` or `smtps://…`. `?tls=required` at the end requires TLS with a valid certificate. Without a mail server, no mail is sent.",
    defaultValue: null,
    pattern: SMTP_URL,
    expected: "smtp:// or smtps://, optionally a user, or a user and a password, percent-encoded, a host, optionally a port, and optionally ?tls=required",
  }),
  MAILKIND_MAIL_FROM: text({ description: "Sender of the emails, as `address` or `name <address>`.", defaultValue: null, defaultText: "`mailkind@` the host of the base address", pattern: MAIL_FROM, expected: "an address, or a name and an address in angle brackets" }),
  MAILKIND_ADMINS: list({ isReloaded: true, description: "Emails of the accounts that can use the admin pages.", defaultValue: [], defaultText: "none", isMember: email => EMAIL.test(email), expected: "a comma list of email addresses" }),
  MAILKIND_FIRST_KEY: secret({
    isAdvanced: true,
    description: "Secret key of the account that the first start creates, instead of a random one. `mailkind key generate` makes one.",
    defaultValue: null,
    pattern: FIRST_KEY,
    expected: "a secret key as `mailkind key generate` prints it",
  }),
  MAILKIND_SIGN_UP: choice({
    description: "`closed`: only those who have an account, have an invitation, or stand in `MAILKIND_ADMINS` can sign in, and no page offers a key to others.",
    defaultValue: "open",
    options: ["open", "closed"],
  }),
  MAILKIND_SIGN_UP_POLICY: choice({
    description: "What the sign-in does with mistyped, disposable and dead addresses. `off` checks nothing. `warn` asks for confirmation. `refuse` asks about typos and refuses the others.",
    defaultValue: "warn",
    options: ["off", "warn", "refuse"],
  }),
  MAILKIND_DEFAULT_TIER: integer({ description: "Tier of a new account.", defaultValue: 0, min: 0, max: 4 }),
  MAILKIND_TIERS: list({
    isAdvanced: true,
    isReloaded: true,
    description: "Limits of tiers, as `tier=requests per second/in flight/units per day`. `-` is unlimited.",
    defaultValue: [],
    defaultText: "the built-in limits",
    isMember: text => TIER_LIMITS.test(text),
    expected: "a comma list such as 0=10/10/2000, with - for unlimited",
  }),
  MAILKIND_PUBLIC_CHECKER: choice({ description: "`off`: the home page has no checker. Without a key, only test addresses are checked.", defaultValue: "on", options: ["on", "off"] }),
  MAILKIND_FREE_CHECKS_PER_DAY: integerOrOff({ description: "Free checks per day (UTC) that all visitors of the home page share. `off` is the same as `MAILKIND_PUBLIC_CHECKER=off`.", defaultValue: 5000, min: 1, max: 1_000_000_000 }),
  MAILKIND_SECURITY_CONTACT: list({
    description: "Contacts for security reports in `/.well-known/security.txt`: email addresses, or `https://`, `mailto:` or `tel:` URLs.",
    defaultValue: [],
    defaultText: "none",
    isMember: isContact,
    expected: "a comma list of email addresses and URLs with https://, mailto: or tel:",
  }),
  MAILKIND_TRUSTED_PROXIES: list({ isReloaded: true, description: "Addresses or prefixes of proxies whose `X-Forwarded-For` the server trusts.", defaultValue: [], defaultText: "none", isMember: isAddressOrPrefix, expected: "a comma list of IP addresses or prefixes (10.0.0.0/8)" }),
  MAILKIND_JOB_BYTES_MAX: integer({ isAdvanced: true, description: "Largest list that a job takes, in bytes. It also bounds what a compressed list unpacks to.", defaultValue: 104_857_600, min: 1024, max: 10_737_418_240 }),
  MAILKIND_CACHE_BYTES_MAX: integer({ isAdvanced: true, description: "Most memory that one process takes to cache what the network says of domains, in bytes. It never takes more than a sixteenth of the memory that it may use.", defaultValue: 67_108_864, min: 1_048_576, max: 17_179_869_184 }),
  MAILKIND_JOBS_DIR: text({
    description: "Folder with the encrypted lists and results of jobs. Servers that share a PostgreSQL database need one that all of them can read and write.",
    defaultValue: null,
    defaultText: "`jobs` in the data directory",
    pattern: /^[^\0]+$/,
    expected: "a path",
  }),
  MAILKIND_CALLBACKS: choice({
    isAdvanced: true,
    description: "`local`: callbacks may go to `http://localhost` on any port too, for development. Everybody with a key can then reach the ports of this host. Else they go to public addresses by https alone.",
    defaultValue: "public",
    options: ["public", "local"],
  }),
  MAILKIND_JOB_KEEP_HOURS: integer({ isAdvanced: true, description: "Hours after its end when a job is deleted, with its list and its results.", defaultValue: 48, min: 1, max: 8760 }),
  MAILKIND_LOG: choice({ flag: "--log <level>", isReloaded: true, description: "Lowest level of log lines.", defaultValue: "info", options: LOG_LEVELS }),
  MAILKIND_REQUEST_LOG: choice({ description: "Shows each account its last requests on the dashboard, without addresses. `off` stores none and deletes those stored.", defaultValue: "on", options: ["on", "off"] }),
  MAILKIND_REQUEST_LOG_BYTES_MAX: integer({ isAdvanced: true, description: "What the request logs of all accounts take in the database at most, in bytes. When they are more, the accounts with the longest logs lose their oldest requests.", defaultValue: 1_073_741_824, min: 1_048_576, max: 1_099_511_627_776 }),
  MAILKIND_METRICS: text({ flag: "--metrics <address>", description: "Separate listener for `/metrics`, as `host:port`, or `off`.", defaultValue: "off", pattern: METRICS_ADDRESS, expected: "host:port, or off" }),
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS

/** Settings of earlier versions, and what is in their place. */
const REMOVED_SETTINGS: Readonly<Record<string, string>> = {
  MAILKIND_BACKUP_KEEP: "The backups of the last week are kept, and at least seven",
  MAILKIND_DATABASE_CONNECTIONS: "A process has 4 connections. Lower the number of workers where the database takes fewer",
  MAILKIND_FIRST_KEY_TO: "Write a key of `mailkind key generate` into a file, and name it in MAILKIND_FIRST_KEY_FILE",
  MAILKIND_IN_FLIGHT_MAX: "A process serves 4096 requests at once",
  MAILKIND_LOG_SAMPLE: "MAILKIND_LOG=debug logs every response",
  MAILKIND_METRICS_ALLOW: "MAILKIND_METRICS opens a listener for metrics: limit who reaches it by its address or a firewall",
  MAILKIND_PRICING: "Write the text into `pricing.md` in the data directory",
}

/** The value of every setting. */
export type Settings = { readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never }

/** The text of a setting, and where it stands as a person says it, such as `--port` or `line 3 of /etc/mailkind.toml`; null: in the environment. */
export type GivenSetting = { readonly text: string; readonly origin: string | null }
export type GivenSettings = ReadonlyMap<SettingName, GivenSetting>

/** Whether the text is the name of a setting. */
export const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name)

/** All settings, or every fault of them. */
export type ParsedSettings = { readonly kind: "read"; readonly settings: Settings } | { readonly kind: "faulty"; readonly faults: readonly string[] }

/** Parses all settings and reports every fault with the name of its setting. An empty value counts as not set. */
export function parseSettings(environment: Readonly<Record<string, string | undefined>>): ParsedSettings {
  const faults: string[] = []
  const given = new Map<SettingName, GivenSetting>()
  for (const name of Object.keys(environment).filter(isOurs).sort())
    if (isSettingName(name)) given.set(name, { text: environment[name] ?? "", origin: null })
    else faults.push(unknownSetting(name))
  const parsed = parseGiven(given)
  if (faults.length === 0) return parsed
  return { kind: "faulty", faults: parsed.kind === "read" ? faults : [...faults, ...parsed.faults] }
}

/** Whether an environment variable is meant for this program. */
export const isOurs = (name: string): boolean => name.startsWith("MAILKIND_")

/** Parses the texts of settings. No fault repeats a value, which may be a secret. */
export function parseGiven(given: GivenSettings): ParsedSettings {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const { text = "", origin = null } = given.get(name as SettingName) ?? {} // a row of the table
    const read = text.trim() === "" ? { ok: true as const, value: setting.defaultValue } : setting.parse(text.trim())
    if (read.ok) values[name] = read.value
    else faults.push(`${name} must be ${read.expected}${origin === null ? "" : ` (${origin})`}`)
  }
  if (faults.length > 0) return { kind: "faulty", faults }
  return { kind: "read", settings: values as Settings } // each value was parsed by its own row of the table
}

/** The fault of a name that is no setting. `write` writes the name of a setting as it stands where the fault is. */
export function unknownSetting(name: string, write: (setting: string) => string = setting => setting): string {
  const removed = `MAILKIND_${bareName(name)}`
  if (Object.hasOwn(REMOVED_SETTINGS, removed)) return `${name} is no setting any more. ${REMOVED_SETTINGS[removed]}`
  const near = nearestSetting(name)
  const meant = near === null ? "" : ` (did you mean ${write(near)}?)`
  return `${name} is not a setting${meant}. \`mailkind help settings\` lists them`
}

const bareName = (name: string): string => name.toUpperCase().replace(/^MAILKIND_/, "")

/** The setting that a name with typos may mean: at most three letters, and at most half of the name, differ. Null: there is none. */
function nearestSetting(name: string): string | null {
  const typed = bareName(name)
  let near: string | null = null
  let least = Math.min(3, typed.length / 2)
  for (const known of Object.keys(SETTINGS)) {
    const isOfLength = Math.abs(bareName(known).length - typed.length) <= least
    const editDistance = isOfLength ? distance(typed, bareName(known)) : Number.POSITIVE_INFINITY
    if (editDistance > least || (editDistance === least && near !== null)) continue
    near = known
    least = editDistance
  }
  return near
}

/** Whether the operator turned DNS off. */
export const isDnsOff = ({ MAILKIND_DNS_SERVERS: servers }: Pick<Settings, "MAILKIND_DNS_SERVERS">): boolean => servers.includes("off")

/** Whether the text is a DNS server: an IP address with an optional port. */
export function isDnsServer(text: string): boolean {
  const { address, port } = parseDnsServer(text)
  return isIP(address) !== 0 && port >= 1 && port <= 65_535
}

/** Parses the address and port of a DNS server: `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53`, `[2001:db8::53]:5353`. */
export function parseDnsServer(text: string): { readonly address: string; readonly port: number } {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text)
  const plain = /^([^:]+)(?::(\d{1,5}))?$/.exec(text)
  const [, address = text, port = "53"] = bracketed ?? plain ?? []
  return { address, port: Number(port) }
}

/** Whether the text is an email address or the URL of a contact. It has no white space, so that it stays one line of a file. */
function isContact(text: string): boolean {
  return EMAIL.test(text) || (/^(?:https:\/\/|mailto:|tel:)[^\s,]+$/.test(text) && URL.canParse(text))
}

/** A contact as a URI: an email address becomes a `mailto:`. */
export const contactUri = (contact: string): string => (/^(?:https|mailto|tel):/.test(contact) ? contact : `mailto:${contact}`)

function isAddressOrPrefix(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/")
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128))
}
