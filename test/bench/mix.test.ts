import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { writeMix } from "../../bench/mix/files.ts"
import { DOMAIN_KINDS, FORM_KINDS } from "../../bench/mix/kinds.ts"
import { linesOfKind, MIX_KINDS, type MixKind, mixLines, take } from "../../bench/mix/mix.ts"
import { emptyDirectory } from "../../bench/servers/product.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { fullResultJson } from "../../src/check/result/result.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { FILE_FORMATS } from "../../src/rows/file-format.ts"
import { check } from "../support/app.ts"

async function resultOf(input: string): Promise<CheckResult> {
  const subject = parseSubject(detectSubjectKind(input), input, "mailkind.test")
  const request = {
    subject,
    policy: "b2b",
    isDeep: false,
    includeTenant: true,
    ownListMatch: NO_OWN_LIST_MATCH,
  } as const
  return JSON.parse(fullResultJson(await check(request), "req_0"))
}

/** The share of a kind's lines of which that is true. */
async function shareOf(kind: MixKind, isTrue: (result: CheckResult) => boolean, isFresh = false): Promise<number> {
  const results = await Promise.all(take(linesOfKind(kind, { isFresh }), 500).map(resultOf))
  return results.filter(isTrue).length / results.length
}

describe("the mix", () => {
  test("has the shares that its tables say, which are those of a hundred lines", () => {
    const sum = (table: Readonly<Record<string, { readonly share: number }>>) =>
      Object.values(table).reduce((total, { share }) => total + share, 0)
    expect(sum(DOMAIN_KINDS)).toBeCloseTo(100)
    expect(sum(FORM_KINDS)).toBe(100)
    const counts = Object.groupBy(take(mixLines(), 20_000), ({ kind }) => kind)
    for (const kind of ["role", "tag", "capitals", "url", "domain", "invalid"] as const)
      expect([kind, (counts[kind]?.length ?? 0) / 200]).toEqual([kind, expect.closeTo(FORM_KINDS[kind].share, 0)])
    const people = FORM_KINDS.plain.share / 100
    for (const kind of ["personal", "rare", "unknown"] as const) {
      const share = (counts[kind]?.length ?? 0) / 200 / people
      expect(Math.abs(share - DOMAIN_KINDS[kind].share)).toBeLessThan(1.5)
    }
  })

  test("is the same on every run, and another for another seed", () => {
    expect(take(mixLines(), 500)).toEqual([...take(mixLines(), 500)])
    expect(take(mixLines(1), 50)).not.toEqual([...take(mixLines(2), 50)])
  })

  test("has unknown domains that come once, and others that recur", () => {
    const lines = take(mixLines(), 20_000)
    const domainsOf = (wanted: MixKind) =>
      lines.filter(({ kind }) => kind === wanted).map(({ text }) => text.replace(/^.*@/, ""))
    const [unknown, business] = [domainsOf("unknown"), domainsOf("business")]
    expect(new Set(unknown).size).toBe(unknown.length)
    expect(new Set(business).size).toBeLessThan(business.length / 2)
  })

  test("is written as text, CSV and NDJSON with the same inputs, as many as are asked for", async () => {
    await using directory = await emptyDirectory()
    const written = FILE_FORMATS.map(async format => {
      const path = join(directory.path, format)
      await writeMix(path, format, 20_000)
      return (await Bun.file(path).text()).trimEnd().split("\n")
    })
    const [text = [], csv = [], ndjson = []] = await Promise.all(written)
    expect(text).toEqual(take(mixLines(), 20_000).map(line => line.text))
    expect(csv.slice(1)).toEqual(text.map((line, at) => `${at},${line}`))
    expect(ndjson.map(line => Object.values<string>(JSON.parse(line))[1] ?? "")).toEqual([...text])
  })
})

describe("lines of a kind", () => {
  test.each(["disposable", "relay", "education", "government", "personal"] as const)(
    "%s are judged so, known or new",
    async kind => {
      expect(await shareOf(kind, ({ category }) => category === kind)).toBeGreaterThan(0.9)
      expect(await shareOf(kind, ({ category }) => category === kind, true)).toBeGreaterThan(0.9)
    },
  )

  test("are what they are called", async () => {
    expect(await shareOf("role", result => result.is_role_account)).toBeGreaterThan(0.9)
    expect(await shareOf("tag", result => result.has_subaddress)).toBe(1)
    expect(await shareOf("invalid", ({ category }) => category === "invalid")).toBe(1)
    expect(await shareOf("unknown", ({ category }) => category === "unknown")).toBe(1)
    expect(await shareOf("organisation", ({ category }) => category === "business")).toBeGreaterThan(0.9)
    expect(await shareOf("typo", result => result.did_you_mean !== null)).toBeGreaterThan(0.5)
    expect(await shareOf("lookalike", result => result.is_lookalike)).toBeGreaterThan(0.5)
    expect(take(linesOfKind("url"), 500).filter(line => detectSubjectKind(line) !== "url").length).toBeLessThan(150)
  })

  test.each(MIX_KINDS.filter(kind => kind !== "invalid"))("%s that are new are at other domains each", kind => {
    const lines = take(linesOfKind(kind, { isFresh: true, start: 1000 }), 500)
    const domains = new Set(lines.map(line => parseSubject(detectSubjectKind(line), line, "mailkind.test").domain))
    expect(domains.size).toBeGreaterThan(490)
  })
})
