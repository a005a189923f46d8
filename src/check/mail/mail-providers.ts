import PROVIDERS from "../../../data/mail/providers.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"
import { createNameMatcher, type NameMatcher } from "../dns/domain-name.ts"
import type { MailEvidence } from "../verdict/evidence.ts"

/** What kinds of provider there are; the file of providers says what each is. */
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
] as const
export type MailProviderKind = (typeof MAIL_PROVIDER_KINDS)[number]

/** What a record can show of who runs a domain's mail. */
export type MailOperator = Exclude<NonNullable<MailEvidence["operatedBy"]>, "learned_disposable">

/** All that a record can show. */
export const MAIL_OPERATORS: readonly MailOperator[] = ["suite_a", "suite_b", "other_suite", "gateway", "disposable"]

/** One provider, as the names of its hosts tell. */
export type MailProvider = {
  /** What results call it. */
  readonly key: string
  readonly kind: MailProviderKind
  /** What its names show; null: nothing of who runs the mail. */
  readonly operator: MailOperator | null
}

/** Providers by the names of their mail hosts, and by the domains that SPF records name. */
export type MailProviderTable = {
  readonly byHost: NameMatcher<MailProvider>
  readonly bySpfDomain: NameMatcher<MailProvider>
}

const PROVIDER_COLUMNS = ["key", "kind", "shows", "name", "mx", "spf", "grade"] as const

/** Patterns of these kinds win over a suite's: the suite's vendor runs those hosts too, for others. */
const KINDS_BEFORE_SUITES: ReadonlySet<MailProviderKind> = new Set(["placeholder", "consumer"])

/** Reads a file of providers. `Broken` when a row is malformed, or a key or pattern stands there twice. */
export function parseMailProviders(text: string): MailProviderTable {
  const rows = parseTable(text, PROVIDER_COLUMNS).map(({ key, kind, shows, mx, spf }) => {
    const provider = toMailProvider({ key, kind: requireOneOf(MAIL_PROVIDER_KINDS, kind), shows })
    return { key, provider, mx: splitWords(mx), spf: splitWords(spf) }
  })
  assert(new Set(rows.map(({ key }) => key)).size === rows.length, "the keys of providers differ")
  return {
    byHost: createProviderMatcher(rows.flatMap(({ provider, mx }) => mx.map(pattern => [pattern, provider] as const))),
    bySpfDomain: createProviderMatcher(
      rows.flatMap(({ provider, spf }) => spf.map(pattern => [pattern, provider] as const)),
    ),
  }
}

function toMailProvider(row: {
  readonly key: string
  readonly kind: MailProviderKind
  readonly shows: string
}): MailProvider {
  const operator = row.shows === "" ? null : requireOneOf(MAIL_OPERATORS, row.shows)
  // A suite has hosts of several clouds, a row each, and one name.
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

/** The provider whose mail host this is (lower case, no trailing dot); null: nobody we know. */
export const providerOfMailHost = (host: string): MailProvider | null => loadProviderTable().byHost(host)

/** The provider whose SPF domain this is (lower case, no trailing dot, macros as written); null: nobody we know. */
export const providerOfSpfDomain = (domain: string): MailProvider | null => loadProviderTable().bySpfDomain(domain)
