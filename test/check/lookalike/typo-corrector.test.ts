import { describe, expect, test } from "bun:test"
import { classifySuffix } from "../../../src/check/address/public-suffix.ts"
import { FoldedLabelIndex, groupByLabel } from "../../../src/check/lookalike/label-index.ts"
import { TypoCorrector } from "../../../src/check/lookalike/typo-corrector.ts"
import { RANKED_TARGETS_MAX } from "../../../src/check/lookalike/typo-likelihood.ts"

/** Finds suggestions among providers: the first are widely used, those in `small` are not. */
function among(large: string, small = ""): (domain: string) => string | null {
  const words = (text: string): readonly string[] => text.split(" ").filter(word => word !== "")
  const ranked = words(large)
  const unused = Array.from({ length: RANKED_TARGETS_MAX - ranked.length }, (_, at) => `unused${at}.invalid`)
  const targets = [...ranked, ...unused, ...words(small)].map(name => ({ name, kind: "provider" }) as const)
  const labels = groupByLabel(targets)
  const suggestions = new TypoCorrector(labels, new FoldedLabelIndex(labels))
  return domain => suggestions.correct(domain, classifySuffix(domain).registrable)
}

describe("if several providers match", () => {
  test("the one that is used far more is suggested, whatever their order", () => {
    expect(among("marbelix.com", "marbolix.com")("marbalix.com")).toBe("marbelix.com")
    expect(among("marbolix.com", "marbelix.com")("marbalix.com")).toBe("marbolix.com")
  })

  test("of equally used ones, the one with the same letters is suggested", () => {
    expect(among("marbelix.com marbailx.com")("marbalix.com")).toBe("marbailx.com")
    expect(among("marbailx.com marbelix.com")("marbalix.com")).toBe("marbailx.com")
  })

  test("nothing is suggested if they are equally likely", () => {
    expect(among("marbelix.com marbolix.com")("marbalix.com")).toBeNull()
    expect(among("", "marbelix.com marbolix.com")("marbalix.com")).toBeNull()
  })

  test("only one under the typed suffix counts", () => {
    expect(among("marbelix.com marbolix.de")("marbalix.de")).toBe("marbolix.de")
    expect(among("marbelix.com marbolix.de")("marbalix.fr")).toBeNull()
  })

  test("nothing is suggested if the label looks like two of them", () => {
    expect(among("", "marbilix.com marbllix.com")("marb1lix.com")).toBeNull()
  })
})

describe("a suffix that does not exist is corrected by one edit", () => {
  const suggestion = among("zroxet.de zroxet.com zroxet.fr", "zroxet.co.uk zroxet.net")

  test.each([
    ["zroxet.con", "zroxet.com"],
    ["zroxet.dw", "zroxet.de"],
    ["zroxet.ft", "zroxet.fr"],
    ["zroxet.co.ukk", "zroxet.co.uk"],
    ["zroxet.nrt", "zroxet.net"],
    ["zroxet.qqqq", null],
  ])("%s means %p", (domain, meant) => {
    expect(suggestion(domain)).toBe(meant)
  })

  test("of two suffixes that are one typo away, the far more used one is suggested", () => {
    expect(among("zroxet.de zroxet.fr")("zroxet.dr")).toBeNull()
    expect(among("zroxet.de", "zroxet.fr")("zroxet.dr")).toBe("zroxet.de")
    expect(among("zroxet.fr", "zroxet.de")("zroxet.dr")).toBe("zroxet.fr")
  })
})

describe("a suffix that can be registered is corrected if both are of one country", () => {
  const suggestion = among("zroxet.com.br live.com.br o2.com.br", "zroxet.co.uk")

  test.each([
    ["zroxet.con.br", "zroxet.com.br"],
    ["zroxet.cmo.br", "zroxet.com.br"],
    ["zroxet.com.uk", "zroxet.co.uk"],
    ["zroxet.net.br", null],
    ["zroxet.con.bz", null],
    ["mail.zroxet.con.br", null],
    ["con.br", null],
    ["live.con.br", null],
    ["o2.con.br", null],
  ])("%s means %p", (domain, meant) => {
    expect(suggestion(domain)).toBe(meant)
  })
})

test("a country suffix is a truncated com for a widely used provider, but not for a small one", () => {
  expect(among("zroxet.com")("zroxet.co")).toBe("zroxet.com")
  expect(among("", "zroxet.com")("zroxet.co")).toBeNull()
})

test("a label of an organisation is not corrected", () => {
  const labels = groupByLabel([
    { name: "marbelix.com", kind: "provider" },
    { name: "marbalix.io", kind: "organisation" },
  ])
  expect(new TypoCorrector(labels, new FoldedLabelIndex(labels)).correct("marbalix.com", "marbalix.com")).toBeNull()
})
