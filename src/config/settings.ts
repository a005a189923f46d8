import { isIP } from "node:net"
import { LOG_LEVELS } from "../base/log.ts"
import { choice, integer, integerOrOff, list, type Setting, secret, text, url, urls } from "./kinds.ts"

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/
const LISTEN_HOST = /^[A-Za-z0-9.:-]{1,253}$/
const METRICS_AT = /^off$|^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/
const TIER_LIMITS = /^[0-4]=(?:[1-9]\d{0,8}|-)\/(?:[1-9]\d{0,8}|-)\/(?:[1-9]\d{0,11}|-)$/
const SMTP_URL = /^smtps?:\/\/(?:[^\s@/?#]+@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?\/?$/
const POSTGRES_URL = /^postgres(?:ql)?:\/\/(?:[^\s@/?#]+@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?\/[^\s/?#]+(?:\?[^\s#]*)?$/
const MAIL_FROM = /^[^\s@,<>"]+@[^\s@,<>"]+$|^(?:[^\p{Cc}<>,"@]*|"[^\p{Cc}"\\]*"\s*)<[^\s@,<>"]+@[^\s@,<>"]+>$/u
const EMAIL = /^[^\s@,]{1,64}@[^\s@,]{1,253}$/

/** Every setting, read once from the environment at the start. The README, `help settings` and `.env.example` print it. */
export const SETTINGS = {
  MAILKIND_HOST: text({ says: "Address to listen on.", fallback: "127.0.0.1", shape: LISTEN_HOST, wants: "a host name or an IP address" }),
  MAILKIND_PORT: integer({ says: "TCP port to listen on; 0 picks a free one, and the start line prints it.", fallback: 8080, min: 0, max: 65_535 }),
  MAILKIND_BASE_URL: url({ says: "Public base address, used in links and error types.", fallback: null, shown: "from host and port", schemes: ["http", "https"] }),
  MAILKIND_DATA_DIR: text({ says: "Directory of the database and the unpacked lists; created with mode 0700.", fallback: "./mailkind-data", shape: /^[^\0]+$/, wants: "a path" }),
  MAILKIND_DATABASE_URL: secret({
    says: "None: SQLite in the data directory; `postgres://user:password@host:port/name`: a PostgreSQL database that many hosts share.",
    fallback: null,
    shape: POSTGRES_URL,
    wants: "postgres://, optionally a user and a password, percent-encoded, a host, optionally a port, and the name of a database",
  }),
  MAILKIND_DATABASE_CONNECTIONS: integer({ says: "How many connections to PostgreSQL one process has at most, beside one that listens.", fallback: 4, min: 1, max: 100 }),
  MAILKIND_TEST_DOMAIN: text({ says: "Domain of the keyless test addresses.", fallback: "mailkind.test", shape: HOST_NAME, wants: "a lower-case domain name of two labels or more" }),
  MAILKIND_DNS_SERVERS: list({ says: "DNS servers as `address[:port]`; `off` never asks.", fallback: [], shown: "the system's", off: true, member: isDnsServer, wants: "a comma list of IP addresses with optional ports, or off" }),
  MAILKIND_DNS_TIMEOUT_MS: integer({ says: "How long one DNS question may take, in milliseconds.", fallback: 1500, min: 50, max: 10_000 }),
  MAILKIND_CHECK_TIMEOUT_MS: integer({ says: "The whole network budget of one check, in milliseconds.", fallback: 3000, min: 50, max: 30_000 }),
  MAILKIND_DNS_CANARIES: list({ says: "Names that a working resolver must know: when it denies them all, DNS counts as unavailable; `off` trusts the resolver.", fallback: ["cloudflare.com", "google.com", "wikipedia.org"], off: true, member: name => HOST_NAME.test(name), wants: "a comma list of domain names, or off" }),
  MAILKIND_IDENTITY_URL: url({ says: "Base address of the suite_b tenant look-up, or `off`.", fallback: null, shown: "the real one", schemes: ["https", "http"], off: true }),
  MAILKIND_LISTS_REFRESH_HOURS: integerOrOff({ says: "How many hours lie between two refreshes of the lists; `off` never downloads.", fallback: 24, min: 1, max: 8760 }),
  MAILKIND_LISTS_SOURCES: urls({
    says: "Where lists are downloaded in place of their own addresses, as `source=URL`; a name that is no source of ours is a list of disposable domains of your own, one a line.",
    fallback: new Map(),
    shown: "their own addresses",
    name: /^[a-z0-9]+(-[a-z0-9]+)*$/,
    schemes: ["https", "http"],
  }),
  MAILKIND_RDAP_BOOTSTRAP_URL: url({ says: "Address of the RDAP bootstrap file (RFC 9224).", fallback: null, shown: "the real one", schemes: ["https", "http"] }),
  MAILKIND_SECRET_SCANNING_KEYS_URL: url({ says: "Address of the leak reporter's public keys; by https, or http on loopback.", fallback: null, shown: "the real one", schemes: ["https", "http"] }),
  MAILKIND_SMTP_URL: secret({ says: "Mail server as `smtp://user:password@host:port` or `smtps://…`; without it no mail is sent.", fallback: null, shape: SMTP_URL, wants: "smtp:// or smtps://, optionally a user and a password, percent-encoded, a host and optionally a port" }),
  MAILKIND_MAIL_FROM: text({ says: "Sender of our mails, as `address` or `name <address>`.", fallback: null, shown: "`mailkind@` the host of the base address", shape: MAIL_FROM, wants: "an address, or a name and an address in angle brackets" }),
  MAILKIND_ADMINS: list({ says: "Account emails that may see the admin pages.", fallback: [], shown: "none", member: email => EMAIL.test(email), wants: "a comma list of email addresses" }),
  MAILKIND_DEFAULT_TIER: integer({ says: "Tier of a new account.", fallback: 0, min: 0, max: 4 }),
  MAILKIND_TIERS: list({ says: "Limits of tiers in place of the built-in ones, as `tier=requests a second/in flight/units a day`; `-` is unlimited.", fallback: [], shown: "the built-in limits", member: text => TIER_LIMITS.test(text), wants: "a comma list such as 0=10/10/2000, with - for unlimited" }),
  MAILKIND_FREE_CHECKS_PER_DAY: integerOrOff({ says: "How many checks a day, UTC, the free website checker at `/` has for all its visitors together; `off` shows no checker.", fallback: 5000, min: 1, max: 1_000_000_000 }),
  MAILKIND_TRUSTED_PROXIES: list({ says: "Addresses or prefixes of proxies whose `X-Forwarded-For` is believed.", fallback: [], shown: "none", member: isAddressOrPrefix, wants: "a comma list of IP addresses or prefixes (10.0.0.0/8)" }),
  MAILKIND_IN_FLIGHT_MAX: integer({ says: "How many requests one process serves at once; it refuses more with `overloaded`.", fallback: 4096, min: 1, max: 1_000_000 }),
  MAILKIND_LOG: choice({ says: "Least level of a log line.", fallback: "info", of: LOG_LEVELS }),
  MAILKIND_LOG_SAMPLE: integerOrOff({ says: "Every how many answers one is logged; `off` logs none that went well.", fallback: "off", min: 1, max: 1_000_000_000 }),
  MAILKIND_SLOW_MS: integerOrOff({ says: "From how many milliseconds on an answer is logged as slow, or `off`.", fallback: 1000, min: 1, max: 60_000 }),
  MAILKIND_METRICS: text({ says: "Where `/metrics` is served by a listener of its own, as `host:port`, or `off`.", fallback: "off", shape: METRICS_AT, wants: "host:port, or off" }),
  MAILKIND_METRICS_ALLOW: list({ says: "Addresses or prefixes that may read `/metrics` where the API is served; for all others it does not exist.", fallback: [], shown: "none", member: isAddressOrPrefix, wants: "a comma list of IP addresses or prefixes (10.0.0.0/8)" }),
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS

/** The value of every setting. */
export type Settings = { readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never }

/** Reads all settings from `environment`. Every fault is told, each with the setting's name. An empty value counts as not set. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): { readonly kind: "read"; readonly settings: Settings } | { readonly kind: "faulty"; readonly faults: readonly string[] } {
  const faults = Object.keys(environment)
    .filter(name => name.startsWith("MAILKIND_") && !(name in SETTINGS))
    .sort()
    .map(name => `${name} is not a setting${nearest(name)}; \`mailkind help settings\` lists them`)
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const given = environment[name]?.trim() ?? ""
    if (given === "") {
      values[name] = setting.fallback
      continue
    }
    const read = setting.read(given)
    if (read.ok) values[name] = read.value
    else faults.push(`${name} wants ${read.wants}`)
  }
  if (faults.length > 0) return { kind: "faulty", faults }
  return { kind: "read", settings: values as Settings } // each member was read by its own row of the table
}

/** Names the setting that differs from `name` in its first or last letters only, for a slip of the keyboard. */
function nearest(name: string): string {
  const near = Object.keys(SETTINGS).find(known => known.startsWith(name) || name.startsWith(known) || sameLetters(known, name))
  return near === undefined ? "" : ` (did you mean ${near}?)`
}

const sameLetters = (a: string, b: string): boolean => [...a].sort().join("") === [...b].sort().join("")

/** Whether the text names a DNS server: an IP address, with or without a port. */
export function isDnsServer(text: string): boolean {
  const { address, port } = dnsServer(text)
  return isIP(address) !== 0 && port >= 1 && port <= 65_535
}

/** The address and port of a DNS server as the setting writes it: `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53`, `[2001:db8::53]:5353`. */
export function dnsServer(text: string): { readonly address: string; readonly port: number } {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text)
  const plain = /^([^:]+)(?::(\d{1,5}))?$/.exec(text)
  const [, address = text, port = "53"] = bracketed ?? plain ?? []
  return { address, port: Number(port) }
}

function isAddressOrPrefix(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/")
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128))
}
