import RULES from "../../../data/mail/mailbox-rules.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { DOT_ATOM } from "../../base/local-part.ts"
import { parseTable, requireOneOf, splitWords } from "../../base/text-table.ts"

/** What a provider does not read in an address. `data/mail/mailbox-rules.txt` says what each means. */
const RULE_WORDS = ["tag", "word", "dots", "hyphens", "underscores", "dot_is_hyphen", "subdomain"] as const
export type RuleWord = (typeof RULE_WORDS)[number]

/** How a provider reads a character of a local part. */
export const NO_NAME = 0
export const KEPT = 1
export const OFF = 2
export const HYPHEN = 3
/** The name ends before it. */
export const END = 4

/** Which addresses of a provider are one mailbox. */
export type MailboxRule = {
  readonly key: string
  /** The domain in which the mailboxes of all domains of the row are named; null: each domain has mailboxes of its own. */
  readonly one: string | null
  readonly isTagOff: boolean
  readonly hasSubdomains: boolean
  /** How each ASCII character is read; null: all as they stand. */
  readonly reading: Uint8Array | null
  /** Whether every address without a tag is its mailbox as it stands. */
  readonly keepsUntagged: boolean
}

/** One row of the table, for people. */
export type MailboxRow = {
  readonly name: string
  /** Empty: it is a suite's. */
  readonly domains: readonly string[]
  readonly one: string | null
  readonly words: readonly RuleWord[]
}

/** The rules by the domains of their providers, and by the key of the suite that runs a domain's mail. */
export type MailboxRules = {
  readonly rows: readonly MailboxRow[]
  readonly byDomain: ReadonlyMap<string, MailboxRule>
  readonly bySuite: ReadonlyMap<string, MailboxRule>
}

const COLUMNS = ["key", "name", "domains", "one", "rules", "source"] as const

/** Parses a table of rules. Throws `InvariantError` if a row is malformed or has no source, or a key or domain occurs twice. */
export function parseMailboxRules(text: string): MailboxRules {
  const byDomain = new Map<string, MailboxRule>()
  const bySuite = new Map<string, MailboxRule>()
  const rows: MailboxRow[] = []
  for (const { key, name: provider, domains, one, rules, source } of parseTable(text, COLUMNS)) {
    const names = splitWords(domains)
    assert(/<https?:\/\/[^>]+>$/.test(source), `${key} has a source`)
    assert(one === "" || names.includes(one), `${key} names its mailboxes in one of its domains`)
    const words = splitWords(rules).map(word => requireOneOf(RULE_WORDS, word))
    const rule = toRule(key, one, new Set(words))
    rows.push({ name: provider, domains: names, one: rule.one, words })
    if (names.length === 0) bySuite.set(key, rule)
    for (const name of names) {
      assert(!byDomain.has(name), `${name} is in one row`)
      byDomain.set(name, rule)
    }
  }
  return { rows, byDomain, bySuite }
}

function toRule(key: string, one: string, words: ReadonlySet<RuleWord>): MailboxRule {
  const reading = readingOf(words)
  const hasSubdomains = words.has("subdomain")
  return {
    key,
    one: one === "" ? null : one,
    isTagOff: words.has("tag"),
    hasSubdomains,
    reading,
    keepsUntagged: one === "" && !hasSubdomains && reading === null,
  }
}

/** How words of a rule have a character read. */
const READ_AS = [
  ["dots", ".", OFF],
  ["dot_is_hyphen", ".", HYPHEN],
  ["hyphens", "-", OFF],
  ["word", "-", END],
  ["underscores", "_", OFF],
] as const satisfies readonly (readonly [RuleWord, string, number])[]

function readingOf(words: ReadonlySet<RuleWord>): Uint8Array | null {
  const rows = READ_AS.filter(([word]) => words.has(word))
  if (rows.length === 0) return null
  const reading = Uint8Array.from({ length: 128 }, (_, code) => {
    const character = String.fromCharCode(code)
    return character === "." || DOT_ATOM.test(character) ? KEPT : NO_NAME
  })
  for (const [word, character, read] of rows) {
    const code = character.charCodeAt(0)
    assert(reading[code] === KEPT, `${word} says alone how ${character} is read`)
    reading[code] = read
  }
  return reading
}

let mailboxRules: MailboxRules | null = null

/** The rules of `data/mail/mailbox-rules.txt`. */
export const loadMailboxRules = (): MailboxRules => {
  mailboxRules ??= parseMailboxRules(RULES)
  return mailboxRules
}
