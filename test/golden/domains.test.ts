import { expect, test } from "bun:test"
import { join } from "node:path"
import PRODUCTS from "../../data/identity/products.json" with { type: "json" }
import { parseTable, splitWords } from "../../src/base/text-table.ts"
import { createNameMatcher } from "../../src/check/dns/domain-name.ts"
import { parseSuiteClues } from "../../src/check/mail/suite-indicators.ts"
import { namePatternOf } from "../../src/check/name-patterns/name-patterns.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { REASON_NAMES, REASONS } from "../../src/contract/reasons.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { ROOT } from "../architecture/source-files.ts"
import { lists } from "../support/app.ts"
import { type DomainCase, resultOf, subjectOf } from "../support/domain-case.ts"
import { DOMAIN_CASES } from "./domain-cases.ts"

const GOLDEN = join(import.meta.dir, "domains.jsonl")
/** A longer text is told by its beginning and its length. */
const TEXT_SHOWN_MAX = 400

const cases: readonly { readonly facts: DomainCase; readonly result: CheckResult }[] = await Promise.all(
  DOMAIN_CASES.map(async facts => ({ facts, result: await resultOf(facts) })),
)

function lineOf({ facts, result }: (typeof cases)[number]): string {
  const { category, confidence, recommendation, reasons, is_disposable, mail } = result
  const { workspace, integrations, degraded, cached } = result
  const shown = { category, confidence, recommendation, reasons, is_disposable, mail, workspace, integrations }
  return JSON.stringify({ ...facts, result: { ...shown, degraded, cached } }, (_, value: unknown) =>
    typeof value === "string" && value.length > TEXT_SHOWN_MAX
      ? `${value.slice(0, 60)}… (${value.length} characters)`
      : value,
  )
}

test("each domain has the result that was reviewed", async () => {
  const text = `${cases.map(lineOf).join("\n")}\n`
  if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(GOLDEN, text)
  expect(text).toBe(await Bun.file(GOLDEN).text())
})

test("no input and no point is there twice", () => {
  for (const of of [(facts: DomainCase) => facts.input, (facts: DomainCase) => facts.about]) {
    const all = DOMAIN_CASES.map(of)
    expect(all.filter((one, at) => all.indexOf(one) !== at)).toEqual([])
  }
})

test("lists know of each domain what its case says, and nothing is imitated", () => {
  const known = DOMAIN_CASES.map(({ input }) => {
    const { domain, registrable, fault } = subjectOf(input)
    const { listMatch, suggestion, lookalikeOf } = lists.lookupDomain(domain ?? "", registrable)
    return { input, fault, listed: listMatch.sets, suggestion, imitated: lookalikeOf }
  })
  const reply = DOMAIN_CASES.map(({ input, listed = [] }) => {
    return { input, fault: null, listed: [...listed], suggestion: null, imitated: null }
  })
  expect(known).toEqual(reply)
})

const rows = parseTable(await Bun.file(join(ROOT, "data/mail/providers.txt")).text(), [
  ...["key", "kind", "shows", "name", "mx", "spf", "grade"],
])
const matcher = (patterns: string | undefined) =>
  createNameMatcher(splitWords(patterns ?? "").map(each => [each, {}] as const))

test("every kind of provider, and every provider that tells what runs the mail, has a case with a host of its row, or with its SPF domain where it has no hosts", () => {
  const hosts = cases.flatMap(({ result }) => result.mail.mx)
  const spfDomains = cases.flatMap(({ result }) =>
    [...(result.mail.spf ?? "").matchAll(/include:(\S+)/g)].map(match => match[1] ?? ""),
  )
  const shown = rows.filter(({ key, kind, shows, mx, spf }) => {
    const called = kind === "suite" ? shows : key
    const [isHost, isSpfDomain] = [matcher(mx), matcher(spf)]
    if (mx === "") return spfDomains.some(domain => isSpfDomain(domain) !== null)
    return hosts.some(({ host, provider }) => provider === called && isHost(host) !== null)
  })
  const missing = rows.filter(row => row["shows"] !== "" && !shown.includes(row))
  expect(missing.map(({ key }) => key)).toEqual([])
  const kinds = new Set(rows.map(({ kind }) => kind))
  expect(kinds.difference(new Set(shown.map(({ kind }) => kind)))).toEqual(new Set())
})

test("every SPF domain of both suites is evidence in some case", () => {
  const evidence = new Set(cases.flatMap(({ result }) => evidenceIn(result)))
  const named = rows.filter(({ kind }) => kind === "suite").flatMap(({ spf }) => splitWords(spf ?? ""))
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter(domain => !evidence.has(`spf:${domain}`))).toEqual([])
})

test("every clue to a hidden suite has a case that shows it", async () => {
  const clues = parseSuiteClues(await Bun.file(join(ROOT, "data/mail/hidden-suites.txt")).text())
  const missing = clues.filter(
    ({ behindProviders, kind, prefix, recordType, matchTarget }) =>
      !cases.some(({ facts, result }) => {
        const provider = rows.find(({ key }) => key === result.mail.provider)
        if (!behindProviders.some(behind => behind === provider?.["key"] || behind === provider?.["kind"])) return false
        if (facts.records[`${recordType} ${prefix}`] === undefined) return false
        const values = [...evidenceIn(result), ...otherSuiteIn(facts, result)]
        return values.some(entry => {
          const value = entry.slice(kind.length + 1)
          return (
            entry.startsWith(`${kind}:`) &&
            (recordType === "TXT" ? value.startsWith(prefix) : matchTarget(value) !== null)
          )
        })
      }),
  )
  expect(missing).toEqual([])
})

const evidenceIn = ({ workspace }: CheckResult): readonly string[] => [
  ...workspace.suite_a.evidence,
  ...workspace.suite_b.evidence,
]

/** Another suite shows no evidence in the result, only its key; what its record points to is in the case. */
function otherSuiteIn({ records }: DomainCase, { workspace }: CheckResult): readonly string[] {
  const targets = records["CNAME autodiscover"] ?? []
  if (workspace.other_suite === null || typeof targets === "string") return []
  return targets.map(name => `autodiscover:${name}`)
}

test("every identity provider signs the people of some case in", () => {
  const given = new Set(cases.map(({ result }) => result.workspace.suite_b.identity_provider))
  const all = [...Object.keys(PRODUCTS), "self_hosted", "other"]
  expect(all.filter(key => !given.has(key))).toEqual([])
})

test("every reason that rests on mail is given in some case", () => {
  const given = new Set(cases.flatMap(({ result }) => result.reasons))
  expect(REASON_NAMES.filter(reason => REASONS[reason].group === "mail" && !given.has(reason))).toEqual([])
})

/** The category that the words of a case's domain tell. */
const bodyNamedIn = ({ input }: DomainCase) => namePatternOf(subjectOf(input).registrable ?? "")?.category

test("each result agrees with itself", () => {
  for (const { facts, result } of cases) {
    const { category, reasons, mail, workspace, integrations, degraded, is_disposable } = result
    const { suite_a, suite_b } = workspace
    const [decisive] = reasons
    expect({
      input: facts.input,
      points: decisive === "name_pattern" ? bodyNamedIn(facts) : decisive && REASONS[decisive].decides,
      isDisposable: is_disposable,
      hasMxUnknown: mail.has_mx === null,
      isDegraded: reasons.includes("dns_unavailable"),
      mostPreferredFirst: mail.mx.map(({ priority }) => priority),
      detected: [suite_a.detected, suite_b.detected],
      tenantShown: suite_b.evidence.some(entry => entry.startsWith("tenant:")),
      tenantUnready: suite_b.tenant_id !== null && !integrations.suite_b_ready,
      readyWithoutTrace: [
        integrations.suite_a_ready && !suite_a.detected,
        integrations.suite_b_ready && !suite_b.detected,
      ],
      pendingWithTenant: workspace.pending && suite_b.tenant_id !== null,
    }).toEqual({
      input: facts.input,
      points: category,
      isDisposable: category === "disposable",
      hasMxUnknown: degraded,
      isDegraded: degraded,
      mostPreferredFirst: mail.mx.map(({ priority }) => priority).sort((one, other) => one - other),
      detected: [suite_a.evidence.length > 0, suite_b.evidence.length > 0],
      tenantShown: suite_b.tenant_id !== null,
      tenantUnready: false,
      readyWithoutTrace: [false, false],
      pendingWithTenant: false,
    })
  }
})

test("every category is some case's verdict", () => {
  const given = new Set(cases.map(({ result }) => result.category))
  expect(CATEGORY_NAMES.filter(category => !given.has(category))).toEqual([])
})
