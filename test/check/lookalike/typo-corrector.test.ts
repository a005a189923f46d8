import { describe, expect, spyOn, test } from "bun:test"
import { classifySuffix } from "../../../src/check/address/public-suffix.ts"
import { KnownNameMatcher } from "../../../src/check/lookalike/known-name-matcher.ts"
import { RANKED_TARGETS_MAX } from "../../../src/check/lookalike/typo-likelihood.ts"

/** Finds suggestions among providers: the first are widely used, those in `small` are not. */
function among(large: string, small = ""): (domain: string) => string | null {
  const words = (text: string): readonly string[] => text.split(" ").filter(word => word !== "")
  const ranked = words(large)
  const unused = Array.from({ length: RANKED_TARGETS_MAX - ranked.length }, (_, at) => `unused${at}.invalid`)
  const targets = [...ranked, ...unused, ...words(small)].map(name => ({ name, kind: "provider" }) as const)
  const matcher = new KnownNameMatcher(targets)
  return domain => matcher.match(domain, classifySuffix(domain).registrable).suggestion
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

describe("under a top-level domain that does not exist a label may have up to two slips", () => {
  const suggestion = among(
    "marbelix.com marbelix.fr droxel.net qorvun.com.br wexi.com velin.de",
    "tulopran.com sarbeline.net",
  )

  test.each([
    // One slip in the label and one in the suffix; the suffix may have two.
    ["marbelx.con", "marbelix.com"],
    ["mrabelix.cmo", "marbelix.com"],
    ["droxxel.nry", "droxel.net"],
    ["droxel.nry", "droxel.net"],
    ["qorvn.com.brr", "qorvun.com.br"],
    ["qorvun.com.brr", "qorvun.com.br"],
    ["marbelx.coom", "marbelix.com"],
    // Any one slip but a wrong first letter, in five letters or more of a widely used provider.
    ["vein.dee", null],
    ["vezin.dee", "velin.de"],
    ["velim.dee", "velin.de"],
    ["celin.dee", null],
    ["wxi.con", null],
    // Two slips, three slips.
    ["mrabelx.con", "marbelix.com"],
    ["marbellixx.con", "marbelix.com"],
    ["mrablx.con", null],
    // A letter that moved past two others is two slips.
    ["mabelrix.con", null],
    ["mbearlix.con", null],
    ["marbeixl.con", "marbelix.com"],
    // The first letters may be swapped, but not be others.
    ["amrbelx.con", "marbelix.com"],
    ["narbelx.con", null],
    // A short label or a provider that few people use has no second slip.
    ["vlinn.dee", null],
    ["sarbelne.ney", "sarbeline.net"],
    ["sarbelnee.ney", null],
    ["tuloprn.con", null],
    // The suffix must be near, too.
    ["marbelx.qqqq", null],
    ["marbelx.invalid", null],
    ["marbelx.example", null],
    // The top-level domain exists; a label of eight letters of a widely used provider may have two slips there.
    ["mrabelx.com", "marbelix.com"],
    ["tulorpn.com", null],
    ["sarbelnee.net", null],
    ["droxl.net", "droxel.net"],
    ["drxl.net", null],
    ["mrabelx.co", null],
    ["droxl.ne", null],
    ["qorvn.comm.br", null],
  ])("%s means %p", (domain, meant) => {
    expect(suggestion(domain)).toBe(meant)
  })

  test("nothing is suggested if two providers are as near, or a nearer one is used less", () => {
    expect(among("marbelix.com marbolix.com")("marbalx.con")).toBeNull()
    expect(among("marbelix.com", "marbolix.com")("marbalixx.con")).toBe("marbelix.com")
    expect(among("marbelixa.com", "marbolina.com")("marboliina.con")).toBe("marbolina.com")
    expect(among("marbalina.com", "marbolina.com")("marboliina.con")).toBeNull()
  })

  test("a word and the name of an organisation are left alone", () => {
    expect(among("grainer.com")("trainer.con")).toBeNull()
    const matcher = new KnownNameMatcher([
      { name: "marbelix.com", kind: "provider" },
      { name: "marbalix.io", kind: "organisation" },
    ])
    expect(matcher.match("marbalix.con", "marbalix.con").suggestion).toBeNull()
    expect(matcher.match("marbslix.con", "marbslix.con").suggestion).toBe("marbelix.com")
  })
})

describe("more of the name was typed around it", () => {
  const suggestion = among("marbelix.com zroxet.de qorvun.com.br mail.com aolu.com velin.net")

  test.each([
    ["marbelix.com.com", "marbelix.com"],
    ["marbelix.comcom", "marbelix.com"],
    ["marbelixcom.com", "marbelix.com"],
    ["zroxet.de.de", "zroxet.de"],
    ["zroxet.dede", "zroxet.de"],
    ["zroxet.de.com", "zroxet.de"],
    ["zroxetde.de", "zroxet.de"],
    ["qorvun.com.br.br", "qorvun.com.br"],
    ["qorvun.com.br.com.br", "qorvun.com.br"],
    ["wwwzroxet.de", "zroxet.de"],
    ["wwzroxet.de", "zroxet.de"],
    ["wzroxet.de", null],
    // A word may be the name of a company, but not under a top-level domain that does not exist.
    ["mail.com.com", null],
    ["wwwmail.com", null],
    ["mail.comcom", "mail.com"],
    // Other text around a name is no slip.
    ["zroxet.de.marbelix.io", null],
    ["zroxet.de.net", null],
    ["zroxetnet.de", null],
  ])("%s means %p", (domain, meant) => {
    expect(suggestion(domain)).toBe(meant)
  })
})

describe("a dot in a label is a slip where no host would be called so", () => {
  const suggestion = among("marbelix.com velin.net maildoor.com gmail.com")

  test.each([
    ["marb.elix.com", "marbelix.com"],
    ["g.mali.com", null],
    ["gma.il.com", "gmail.com"],
    ["vel.in.net", null],
    ["mail.door.com", null],
    ["velinn.et", "velin.net"],
    ["marb.elix.net", null],
    ["ma.rb.elix.com", null],
  ])("%s means %p", (domain, meant) => {
    expect(suggestion(domain)).toBe(meant)
  })
})

test("a generic suffix with the key beside the right one is corrected for long labels of widely used providers", () => {
  const suggestion = among("droxel.net vlinn.net marbelix.com", "tulopran.net")
  expect(suggestion("droxel.bet")).toBe("droxel.net")
  expect(suggestion("marbelix.cam")).toBe("marbelix.com")
  expect(suggestion("vlinn.bet")).toBeNull()
  expect(suggestion("tulopran.bet")).toBeNull()
  expect(suggestion("droxel.new")).toBeNull()
})

test("a label alone means a provider only if that is widely used and the label no word", () => {
  const suggestion = among("marbelix.com mail.com", "tulopran.com")
  expect(["marbelix", "mail", "tulopran", "marbelx"].map(suggestion)).toEqual(["marbelix.com", null, null, null])
})

test("a household name may have a slip in the label and a truncated com, others may not", () => {
  const suggestion = among("gmail.com yahoo.com yahoo.co.jp marbelix.com")
  expect(suggestion("gmial.co")).toBe("gmail.com")
  expect(suggestion("yaho.cm")).toBe("yahoo.com")
  expect(suggestion("marbelx.co")).toBeNull()
  expect(suggestion("gmial.io")).toBeNull()
  expect(suggestion("gmial.ru")).toBe("gmail.com")
  expect(suggestion("gmaul.ru")).toBeNull()
  expect(suggestion("yahoo.co.jo")).toBe("yahoo.co.jp")
})

test("a key that was held down is one slip", () => {
  const suggestion = among("marbelix.com zoorin.com")
  expect(suggestion("marbbbelix.com")).toBe("marbelix.com")
  expect(suggestion("zooooorin.com")).toBe("zoorin.com")
  expect(suggestion("marbbbellix.com")).toBeNull()
  expect(suggestion("marb111elix.com")).toBeNull()
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
  const matcher = new KnownNameMatcher([
    { name: "marbelix.com", kind: "provider" },
    { name: "marbalix.io", kind: "organisation" },
  ])
  expect(matcher.match("marbalix.com", "marbalix.com").suggestion).toBeNull()
})

/** The number of letters that `work` compares one by one. */
function lettersRead(work: () => unknown): number {
  const reads = [spyOn(String.prototype, "charAt"), spyOn(String.prototype, "charCodeAt")]
  try {
    work()
    return reads.reduce((count, read) => count + read.mock.calls.length, 0)
  } finally {
    for (const read of reads) read.mockRestore()
  }
}

test("a long suffix that does not exist is not compared with those of a provider letter by letter", () => {
  const countries = "br ar au mx tr sg my ph tw hk vn ua pl ro gr co pe ve".split(" ")
  const suggestion = among(`zroxet.com ${countries.map(country => `zroxet.com.${country}`).join(" ")}`)
  const short = lettersRead(() => suggestion("zroxett.commm"))
  for (const suffix of ["co.uk.".repeat(35), "com.".repeat(50), "a.".repeat(110)]) {
    expect(suggestion(`zroxett.${suffix}con`)).toBeNull()
    expect(lettersRead(() => suggestion(`zroxett.${suffix}con`))).toBeLessThan(2 * short)
  }
})
