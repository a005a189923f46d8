import PROVIDERS from "../../../data/mail/providers.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"
import { TwoGenerationCache } from "../../base/two-generation-cache.ts"
import { createNameMatcher, type NameMatcher } from "../dns/domain-name.ts"
import type { MailEvidence } from "../verdict/evidence.ts"

/** The kinds of mail provider. `data/mail/providers.txt` says what each means. */
export const MAIL_PROVIDER_KINDS = [
  "suite",
  "placeholder",
  "mailbox",
  "consumer",
  "group",
  "hosting",
  "isp",
  "sender",
  "forwarder",
  "relay",
  "gateway",
  "gateway_out",
  "disposable_mx",
  "parking",
  "agent",
] as const
export type MailProviderKind = (typeof MAIL_PROVIDER_KINDS)[number]

/** Who operates a domain's mail, as far as DNS records can show it. */
export type MailOperator = Exclude<NonNullable<MailEvidence["operatedBy"]>, "learned_disposable">

/** All operators that a row of the table can show, by itself or by its kind. */
export const MAIL_OPERATORS: readonly MailOperator[] = [
  "suite_a",
  "suite_b",
  "other_suite",
  "gateway",
  "disposable",
  "parking",
  "agent",
  "forwarder",
  "personal",
  "alias",
]

/** One mail provider. */
export type MailProvider = {
  /** Its name in results. */
  readonly key: string
  readonly kind: MailProviderKind
  /** Who operates the mail of a domain that uses the provider; null: its hosts do not tell. */
  readonly operator: MailOperator | null
}

/** Providers by the names of their mail hosts, and by their domains in SPF records. */
export type MailProviderTable = {
  readonly byHost: NameMatcher<MailProvider>
  readonly bySpfDomain: NameMatcher<MailProvider>
  /** Names for people, by key. */
  readonly names: ReadonlyMap<string, string>
}

const PROVIDER_COLUMNS = ["key", "kind", "shows", "name", "mx", "spf", "grade"] as const

/** The patterns of these kinds win over those of a suite, whose vendor operates these hosts for other purposes. */
const KINDS_BEFORE_SUITES: ReadonlySet<MailProviderKind> = new Set(["placeholder", "consumer"])

/** Parses a table of providers. Throws `InvariantError` if a row is malformed, or a key or pattern occurs twice. */
export function parseMailProviders(text: string): MailProviderTable {
  const rows = parseTable(text, PROVIDER_COLUMNS).map(({ key, kind, shows, name, mx, spf }) => {
    const provider = toMailProvider({ key, kind: requireOneOf(MAIL_PROVIDER_KINDS, kind), shows })
    return { key, name, provider, mx: splitWords(mx), spf: splitWords(spf) }
  })
  assert(new Set(rows.map(({ key }) => key)).size === rows.length, "the keys of providers differ")
  return {
    byHost: createProviderMatcher(rows.flatMap(({ provider, mx }) => mx.map(pattern => [pattern, provider] as const))),
    bySpfDomain: createProviderMatcher(
      rows.flatMap(({ provider, spf }) => spf.map(pattern => [pattern, provider] as const)),
    ),
    // A suite's first row names it. A note in parentheses tells clouds of one provider apart.
    names: new Map(
      rows.map(({ provider, name }) => [provider.key, name.replace(/ \([^)]*\)$/, "")] as const).reverse(),
    ),
  }
}

/** Whose domains the hosts of some kinds serve, whatever the provider. */
const OPERATOR_OF_KIND: { readonly [Kind in MailProviderKind]?: MailOperator } = {
  consumer: "personal",
  forwarder: "forwarder",
  relay: "alias",
}

function toMailProvider(row: {
  readonly key: string
  readonly kind: MailProviderKind
  readonly shows: string
}): MailProvider {
  const operator = row.shows === "" ? (OPERATOR_OF_KIND[row.kind] ?? null) : requireOneOf(MAIL_OPERATORS, row.shows)
  // A suite has several rows, one for each cloud. All have the suite's key.
  return { key: row.kind === "suite" && operator !== null ? operator : row.key, kind: row.kind, operator }
}

function createProviderMatcher(
  rows: readonly (readonly [pattern: string, provider: MailProvider])[],
): NameMatcher<MailProvider> {
  const any = createNameMatcher(rows)
  const beforeSuites = createNameMatcher(rows.filter(([, { kind }]) => KINDS_BEFORE_SUITES.has(kind)))
  return name => {
    const provider = any(name)
    return provider?.kind === "suite" ? (beforeSuites(name) ?? provider) : provider
  }
}

let providerTable: MailProviderTable | null = null

const loadProviderTable = (): MailProviderTable => {
  providerTable ??= parseMailProviders(PROVIDERS)
  return providerTable
}

/** How many hosts of known providers are kept at least, about 100 bytes each. Most domains have their mail at a few thousand hosts. */
const RECENT_HOSTS_MIN = 2_000
const recentHosts = new TwoGenerationCache<string, MailProvider>(RECENT_HOSTS_MIN)

/** The provider of a mail host (lower case, no trailing dot); null: it is not known. */
export function providerOfMailHost(host: string): MailProvider | null {
  const recent = recentHosts.get(host)
  if (recent !== undefined) return recent
  const provider = loadProviderTable().byHost(host)
  if (provider !== null) recentHosts.set(host, provider)
  return provider
}

/** The provider of a domain in SPF records (lower case, no trailing dot, macros as written); null: it is not known. */
export const providerOfSpfDomain = (domain: string): MailProvider | null => loadProviderTable().bySpfDomain(domain)

/** The name by which people know a provider, without a note in parentheses; the key itself when the table has no such key. */
export const mailProviderName = (key: string): string => loadProviderTable().names.get(key) ?? key
