import { expect, test } from "bun:test"
import { splitName } from "../../../src/check/lookalike/known-names.ts"
import { findTypo } from "../../../src/check/lookalike/typo.ts"
import {
  isFarMoreUsed,
  isLikelyTypo,
  likelierCandidate,
  RANKED_TARGETS_MAX,
  type TypoCandidate,
} from "../../../src/check/lookalike/typo-likelihood.ts"

const RANKS = { giant: 0, large: 20, small: RANKED_TARGETS_MAX } as const
type Rank = keyof typeof RANKS

function meant(typed: string, name: string, rank: Rank): TypoCandidate {
  const { label, suffix } = splitName(name)
  const typo = findTypo(typed, label)
  if (typo === null) throw new Error(`${typed} is no slip from ${label}`)
  return { name: { name, kind: "provider", label, suffix, rank: RANKS[rank] }, typo }
}

test.each([
  // Letters transposed, doubled, halved, or alike.
  ["zxr", "zrx.ru", ""],
  ["zrxo", "zrox.ru", "giant large"],
  ["zrxoi", "zroxi.ru", "giant large small"],
  ["zrrx", "zrx.ru", "giant large"],
  ["zrr", "zr.ru", ""],
  ["webb", "web.ru", ""],
  ["zroox", "zrox.ru", "giant large small"],
  ["zroxu", "zrooxu.ru", "giant large small"],
  ["zrox", "zroxx.ru", "giant large"],
  ["zrx", "zrrx.ru", ""],
  ["z1x", "zix.ru", ""],
  ["zr1x", "zrix.ru", "giant"],
  ["zr1xe", "zrixe.ru", "giant large"],
  ["zr1xet", "zrixet.ru", "giant large small"],
  ["i26", "126.ru", "giant large small"],
  // A letter is missing: inside, at the start, at the end.
  ["zoxe", "zroxe.ru", ""],
  ["zoxeti", "zroxeti.ru", "giant large small"],
  ["zoxet", "zroxet.ru", "giant large small"],
  ["roxeti", "zroxeti.ru", "giant large"],
  ["roxet", "zroxet.ru", ""],
  ["zroxe", "zroxet.ru", ""],
  ["zroxet", "zroxetu.ru", "giant large"],
  ["zroxetul", "zroxetuli.ru", "giant large small"],
  ["zroxetuli", "zroxetulip.ru", "giant large small"],
  // A letter is replaced: inside, at the start.
  ["zeox", "zrox.ru", "giant"],
  ["zroc", "zrox.ru", ""],
  ["zeoxe", "zroxe.ru", "giant large"],
  ["zeoxeti", "zroxeti.ru", "giant large small"],
  ["zeoxet", "zroxet.ru", "giant large"],
  ["zeoxetin", "zroxetin.ru", "giant large small"],
  ["xroxe", "zroxe.ru", ""],
  ["xroxet", "zroxet.ru", "giant large"],
  ["xroxeti", "zroxeti.ru", "giant large"],
  // An extra letter: a neighbouring key, or any other.
  ["zrex", "zrx.ru", ""],
  ["zreox", "zrox.ru", "giant"],
  ["zreoxe", "zroxe.ru", "giant large"],
  ["zreoxet", "zroxet.ru", "giant large small"],
  ["zreoxeti", "zroxeti.ru", "giant large small"],
  ["xzroxet", "zroxet.ru", ""],
  ["xzroxeti", "zroxeti.ru", "giant large"],
  ["xzroxetino", "zroxetino.ru", "giant large"],
  ["zrmoxet", "zroxet.ru", ""],
  ["zrmoxeti", "zroxeti.ru", "giant large"],
  ["zrmoxetin", "zroxetin.ru", "giant large"],
  ["rozxet", "zroxet.ru", ""],
  ["rozxeti", "zroxeti.ru", "giant large"],
  ["rozxetino", "zroxetino.ru", "giant large"],
  // A word that many names end with does not count as letters of a small provider.
  ["zsx-online", "zrx-online.ru", "giant large"],
  ["zrlx-online", "zlrx-online.ru", "giant large"],
  // Under com, with a missing or another letter.
  ["zeoxe", "zroxe.com", ""],
  ["zeoxet", "zroxet.com", "giant large"],
  ["zoxetinol", "zroxetinol.com", "giant large small"],
  ["zoxetino", "zroxetino.com", "giant large"],
  ["zrrx", "zrx.com", "giant"],
  ["zroox", "zrox.com", "giant large"],
  ["zrxo", "zrox.com", "giant large"],
  ["zrxoi", "zroxi.com", "giant large small"],
  // A hyphen does not count as a letter.
  ["tonlin", "t-onlin.ru", "giant large small"],
  ["tonli", "t-onli.ru", ""],
] as const)("%s is likely a slip from %s where that is used so: %p", (typed, name, uses) => {
  const ranks: readonly Rank[] = ["giant", "large", "small"]
  expect(ranks.filter(rank => isLikelyTypo(typed, meant(typed, name, rank))).join(" ")).toBe(uses)
})

test.each([
  ["gmial", "gmail.com", true],
  ["mail", "gmail.com", false],
  ["gmai", "gmail.com", true],
  ["tmail", "gmail.com", false],
  ["uahoo", "yahoo.com", true],
  ["gotmail", "hotmail.com", false],
  ["yotmail", "hotmail.com", true],
  ["ucloud", "icloud.com", false],
  ["otmail", "hotmail.com", true],
  ["ahoo", "yahoo.com", false],
  ["hgmail", "gmail.com", true],
  ["gemail", "gmail.com", true],
  ["gmaxil", "gmail.com", true],
  ["gaiml", "gmail.com", true],
  ["andex", "yandex.ru", true],
  ["hotemail", "hotmail.com", true],
  ["yatoo", "yahoo.com", false],
  ["hotcmail", "hotmail.com", true],
  ["icould", "icloud.com", true],
] as const)("a household name is known wherever it stands in the order: %s for %s is %p", (typed, name, isSo) => {
  expect(isLikelyTypo(typed, meant(typed, name, "small"))).toBe(isSo)
})

test("of two candidates the more used one is likelier, else the one with the same letters, else neither", () => {
  const far = meant("marbalix", "marbelix.com", "large")
  const other = meant("marbalix", "marbolix.com", "large")
  const swapped = meant("marbalix", "marablix.com", "large")
  const used = meant("marbalix", "marbolix.com", "giant")
  expect(likelierCandidate(far, other)).toBeNull()
  expect(likelierCandidate(far, swapped)).toBe(swapped)
  expect(likelierCandidate(swapped, far)).toBe(swapped)
  expect(likelierCandidate(used, swapped)).toBe(used)
  expect(likelierCandidate(swapped, used)).toBe(used)
})

test("a name is used far more than another only if the order of use says so", () => {
  const { name: giant } = meant("zrxoi", "zroxi.de", "giant")
  const { name: large } = meant("zrxoi", "zroxi.fr", "large")
  expect([isFarMoreUsed(giant, large), isFarMoreUsed(large, giant)]).toEqual([true, false])
  expect(isFarMoreUsed({ ...large, rank: RANKED_TARGETS_MAX }, { ...large, rank: RANKED_TARGETS_MAX + 1000 })).toBe(
    false,
  )
})

test("RANKED_TARGETS_MAX is the number of providers that the catalogue ranks", async () => {
  const { providers_first: ranked } = await Bun.file("data/catalogue.json").json()
  expect(ranked).toHaveLength(RANKED_TARGETS_MAX)
})
