import { join } from "node:path"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import type { Category } from "../../src/contract/categories.ts"
import type { CheckResult } from "../../src/contract/schemas.ts"
import { BENCH_DOMAINS } from "../load/addresses.ts"

/** What a name is there to ask. */
export const LABELS = {
  disposable: "throw-away domains that are known by name",
  disposable_host: "throw-away domains that only their mail hosts give away, which takes DNS",
  ordinary: "business, personal, relay, education and government domains",
  invalid: "addresses and domains that cannot be, by their text alone",
} as const
export type Label = keyof typeof LABELS

/** An address whose kind is known. */
export type LabelledName = { readonly address: string; readonly label: Label; readonly category: Category }

const GOLDEN = join(import.meta.dir, "../../test/golden")
const TEST_DOMAIN = "mailkind.test"
const ORDINARY: readonly Category[] = ["business", "personal", "relay", "education", "government"]

/**
 * The names that this project's golden files label, and the well-known ones of its benches, each once, as addresses.
 * Names that only DNS can call invalid, and those that are nobody's business, are left out: nobody could get them right
 * offline.
 */
export async function labelledNames(): Promise<readonly LabelledName[]> {
  const [domains, verdicts] = await Promise.all([linesOf("domains.jsonl"), linesOf("verdicts.jsonl")])
  const names = [...domains.flatMap(labelledDomain), ...verdicts.flatMap(labelledText), ...wellKnown()]
  return [...new Map(names.map(name => [name.address, name])).values()]
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await Bun.file(join(GOLDEN, file)).text()).trimEnd().split("\n")
}

/** A golden domain: the sets that list it, and the result that was reviewed. */
type GoldenDomain = {
  readonly input: string
  readonly listed?: readonly string[]
  readonly result: Pick<CheckResult, "category">
}

function labelledDomain(line: string): LabelledName[] {
  const { input, listed = [], result }: GoldenDomain = JSON.parse(line)
  const { category } = result
  const address = addressOf(input)
  if (address === null) return []
  if (category === "disposable")
    return [{ address, category, label: listed.includes("disposable") ? "disposable" : "disposable_host" }]
  return ORDINARY.includes(category) ? [{ address, category, label: "ordinary" }] : []
}

/** A golden verdict: what was told beside the input, and the verdict that was reviewed. */
type GoldenVerdict = { readonly told: { readonly input: string }; readonly category: Category }

/** A verdict counts when it rests on the text alone: then nothing but the input was told. */
function labelledText(line: string): LabelledName[] {
  const { told: facts, category }: GoldenVerdict = JSON.parse(line)
  const address = facts.input.includes("@") ? facts.input : addressOf(facts.input)
  const restsOnText = Object.keys(facts).length === 1
  return restsOnText && category === "invalid" && address !== null ? [{ address, category, label: "invalid" }] : []
}

function wellKnown(): LabelledName[] {
  const { personal, disposable, education } = BENCH_DOMAINS
  const named = (domains: readonly string[], category: Category, label: Label) =>
    domains.map(domain => ({ address: `jane@${domain}`, category, label }))
  return [
    ...named(personal, "personal", "ordinary"),
    ...named(education, "education", "ordinary"),
    ...named(disposable, "disposable", "disposable"),
  ]
}

/** Peers take addresses only, so a domain or URL is asked about as somebody's there; null when it names no domain. */
function addressOf(input: string): string | null {
  if (input.includes("@")) return input
  const { domain } = parseSubject(detectSubjectKind(input), input, TEST_DOMAIN)
  return domain === null ? null : `jane@${domain}`
}
