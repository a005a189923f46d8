import PROVIDERS from "../../../data/mail/providers.txt" with { type: "text" }
import { assert } from "../../base/assert.ts"
import type { Mail } from "../verdict/evidence.ts"
import { type NamePatterns, namePatterns } from "./name-patterns.ts"
import { oneOfWords, readTable, wordsOf } from "./text-table.ts"

/** What kinds of provider there are; the file of providers says what each is. */
export const PROVIDER_KINDS = [
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
export type ProviderKind = (typeof PROVIDER_KINDS)[number]

/** What a record can show of who runs a domain's mail. */
export type Shown = Exclude<NonNullable<Mail["runBy"]>, "learned_disposable">

/** All that a record can show. */
export const SHOWN: readonly Shown[] = ["suite_a", "suite_b", "other_suite", "gateway", "disposable"]

/** One provider, as the names of its hosts tell. */
export type Provider = {
  /** What results call it. */
  readonly key: string
  readonly kind: ProviderKind
  /** What its names show; null: nothing of who runs the mail. */
  readonly shows: Shown | null
}

/** Providers by the names of their mail hosts, and by the domains that SPF records name. */
export type Providers = { readonly ofHost: NamePatterns<Provider>; readonly ofSpfDomain: NamePatterns<Provider> }

const COLUMNS = ["key", "kind", "shows", "name", "mx", "spf", "grade"] as const

/** Patterns of these kinds win over a suite's: the suite's vendor runs those hosts too, for others. */
const BEFORE_SUITES: ReadonlySet<ProviderKind> = new Set(["placeholder", "consumer"])

/** Reads a file of providers. `Broken` when a row is malformed, or a key or pattern stands there twice. */
export function readProviders(text: string): Providers {
  const rows = readTable(text, COLUMNS).map(({ key, kind, shows, mx, spf }) => {
    const provider = providerIn({ key, kind: oneOfWords(PROVIDER_KINDS, kind), shows })
    return { key, provider, mx: wordsOf(mx), spf: wordsOf(spf) }
  })
  assert(new Set(rows.map(({ key }) => key)).size === rows.length, "the keys of providers differ")
  return {
    ofHost: lookUp(rows.flatMap(({ provider, mx }) => mx.map(pattern => [pattern, provider] as const))),
    ofSpfDomain: lookUp(rows.flatMap(({ provider, spf }) => spf.map(pattern => [pattern, provider] as const))),
  }
}

function providerIn(row: { readonly key: string; readonly kind: ProviderKind; readonly shows: string }): Provider {
  const shows = row.shows === "" ? null : oneOfWords(SHOWN, row.shows)
  // A suite has hosts of several clouds, a row each, and one name.
  return { key: row.kind === "suite" && shows !== null ? shows : row.key, kind: row.kind, shows }
}

function lookUp(rows: readonly (readonly [pattern: string, provider: Provider])[]): NamePatterns<Provider> {
  const any = namePatterns(rows)
  const beforeSuites = namePatterns(rows.filter(([, { kind }]) => BEFORE_SUITES.has(kind)))
  return name => {
    const provider = any(name)
    return provider?.kind === "suite" ? (beforeSuites(name) ?? provider) : provider
  }
}

let known: Providers | null = null

const knownProviders = (): Providers => {
  known ??= readProviders(PROVIDERS)
  return known
}

/** The provider whose mail host this is (lower case, no trailing dot); null: nobody we know. */
export const providerOf = (host: string): Provider | null => knownProviders().ofHost(host)

/** The provider whose SPF domain this is (lower case, no trailing dot, macros as written); null: nobody we know. */
export const spfProviderOf = (domain: string): Provider | null => knownProviders().ofSpfDomain(domain)
