import { describe, expect, test } from "bun:test"
import BRANDS from "../../../../data/brands.txt" with { type: "text" }
import { classifySuffix } from "../../../../src/check/address/public-suffix.ts"
import { LabelAutomaton } from "../../../../src/check/lookalike/brands/brand-automaton.ts"
import { brandFaults } from "../../../../src/check/lookalike/brands/brand-faults.ts"
import { bundledBrands, isSlip } from "../../../../src/check/lookalike/brands/brand-matcher.ts"
import { parseBrands } from "../../../../src/check/lookalike/brands/brand-table.ts"
import { lists } from "../../../support/app.ts"

const brands = parseBrands(BRANDS)
const names = (text: string): readonly string[] => text.trim().split(/\s+/)
const imitated = (domain: string) => {
  const { registrable } = classifySuffix(domain)
  return bundledBrands().match(registrable, registrable.slice(0, registrable.indexOf(".")), () => false)
}
const imitatedOffline = (domain: string) => lists.lookupDomain(domain, classifySuffix(domain).registrable).lookalikeOf

/** Names made for this test, by the rule that finds them. */
const IMITATIONS = {
  "a coined label is a part": "quick-whatsapp.net netflix-eu14.com paypal-kasse.de at-coinbase.io metamask3-hilfe.org",
  "a coined label is inside a part": "dialwhatsapp.net netflixeu.org mypaypalzone.com 55coinbase.net gowalmartnow.biz",
  "a coined label goes over a hyphen": "whats-app-online.com tele-gram.org meta-mask-io.net coin-base.support",
  "a coined label is written with digits or letters that look alike":
    "whatsapp.whatsapp-1.cc paypai-kasse.de ne7flix-tv.com teiegram.club lnstagram.fun c0inbase-app.com rnetamask.xyz",
  "a coined label has a slip":
    "whatsaap.shop my-netlfix.top telegrom.club instagrem-fan.com metanask.io wellsfagro.net",
  "a slip of a short label is beside a lure, or has two letters swapped":
    "kuvoin-login.com billing-netlfix.com verify-coinbaze.net gogole.shop paypaal.net nettflix.com",
  "a brand that is written with a hyphen": "credit-agricole-compte.info t-mobile-rewards.top e-zpass-toll.cc",
  "an own name's label has a suffix of nobody": "facebookmail.top googleadservices.xyz microsoftonline.tk",
  "a label that others end with starts a part":
    "hsbc-uk1.com ebaypayment.top 2027usps.com my-fedextracking.net icloud-de.org",
  "a word is beside one that asks for trust":
    "dhl-zahlung.com santander-acceso.net signin-amazon.org apple-id.info 7734120-apple.net steam-gift.xyz secureamazon.net",
  "a word has an address before it": "www-orange.info https-steam.net",
} as const

/** Names that the rules leave alone, by what they are. */
const HONEST = {
  "the label under any suffix": "whatsapp.de paypal.io t-mobile.nl credit-agricole.it steam.tv",
  "a brand's own names": "facebookmail.com onmicrosoft.com googleusercontent.com ebaystatic.com wellsfargojobs.com",
  "what a company calls a part of itself": "roblox-careers.com netflixventures.com bystripe.com xfinityarena.com",
  "other words and names":
    "skrillex.com opensearch.org revolution.com altruist.com swissport.com easynet.com star-telegram.com bigpanda.io",
  "a label that is a piece of other words":
    "hsbconsulting.de bbvalencia.es ebayern.de fedexpo.com gmaillard.fr stonedrive.com plazadali.it taxfinity.com",
  "words that look like a label": "klama.pl all-express.com bookingcompany.com royal-mall.com",
  "one slip from a short label": "kontakte.de bilance.cz westrac.com.au lapada.org easyvet.com netflax.com",
  "a word of the language, or initials, beside help":
    "visa-hilfe.de sky-connect.com ing-mueller-hilfe.de lng-invoice.com",
  "a word without a lure":
    "apple-orchard.com orange-county.org chase-farm.com steam-engines.co.uk santander-turismo.co ups-batteries.com tim-mueller.de",
  "one slip from a word or a short label":
    "finance.com ebax.com pioneer.com cloud.com telegraph.co.uk citybank.com klara.de",
  "parts that only together would be a label": "grape-tmall.org made-ltatel.com",
} as const

describe("the rules", () => {
  test.each(Object.entries(IMITATIONS))("find an imitation where %s", (_, domains) => {
    const honest = names(domains).filter(domain => imitated(domain) === null)
    expect(honest).toEqual([])
  })

  test.each(Object.entries(HONEST))("leave %s alone", (_, domains) => {
    const found = names(domains).map(domain => [domain, imitated(domain)])
    expect(found).toEqual(names(domains).map(domain => [domain, null]))
  })

  test("say which brand is imitated, by its main name", () => {
    const found = ["quick-whatsapp.net", "telegrom.club", "dhl-zahlung.com"].map(imitated)
    expect(found).toEqual(["whatsapp.com", "telegram.org", "dhl.com"])
  })

  test("leave a part alone that is the label of another known name", () => {
    const match = (isReal: boolean) =>
      bundledBrands().match("telegrom.com", "telegrom", part => isReal && part === "telegrom")
    expect([match(false), match(true)]).toEqual(["telegram.org", null])
  })
})

describe("in the lists", () => {
  test("no own name of a brand is an imitation, nor any name under it", () => {
    const owned = brands.flatMap(({ names }) => names)
    const accused = owned
      .flatMap(name => [name, `login.${name}`, `secure-paypal.whatsapp.${name}`])
      .filter(imitatedOffline)
    expect(accused).toEqual([])
  })

  test("a slip of a household mail provider is a typo and no imitation", () => {
    const found = names("gmial.com outlok.com icluod.com hotmial.com").map(domain => {
      const { suggestion, lookalikeOf } = lists.lookupDomain(domain, domain)
      return [suggestion !== null, lookalikeOf]
    })
    expect(found).toEqual(found.map(() => [true, null]))
  })
})

describe("the table", () => {
  test("has at least 150 brands and no fault", () => {
    expect(brands.length).toBeGreaterThanOrEqual(150)
    expect(brandFaults(BRANDS)).toEqual([])
  })

  test.each([
    ["coined\tanchor\tanchor.com\t-\t-", "brands, line 1: anchor is a word that names too much to be coined"],
    [
      "# Banks\ncoined\torchest\torchest.com\t-\t-",
      "brands, line 2: orchest, which is coined, makes an imitation of orchestra",
    ],
    ["word\tmail\tmail.com\t-\t-", "brands, line 1: mail is a word that names too much to be word"],
    ["coined\tacme\tacme.com\t-\t-", "brands: acme, which is coined, has 6 to 32 letters and digits"],
    ["coined\tacmeco\t-\t-\t-", "brands: acmeco has 1 to 100 names"],
    ["coined\tacmeco\tacmeco\t-\t-", "brands: acmeco of acmeco is a domain"],
    ["any\tacmeco\tacmeco.com\t-\t-", "brands: any is one of coined, start, word"],
    ["word\tacmeco\tacmeco.com\t-\t-\nword\tacmeco\tacmeco.de\t-\t-", "brands: acmeco has one row"],
    ["coined\tacmeco\tacmeco.com\t-", "brands: a row has a field for each column: coined\tacmeco"],
  ])("with a row that cannot be used is refused, and the line is named: %j", (text, message) => {
    expect(brandFaults(text)[0]).toStartWith(message)
  })
})

test("all places of all labels are found in one pass, the same as by a search for each", () => {
  const labels = ["ab", "abc", "bca", "caab", "ok9"]
  const automaton = new LabelAutomaton(labels)
  const digits = ["a", "b", "c", "-", "9", "k", "o"]
  for (let seed = 0; seed < 2000; seed++) {
    let state = seed * 2654435761
    const text = Array.from({ length: 12 }, () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return digits[(state >>> 16) % digits.length]
    }).join("")
    const joined = text.replaceAll("-", "")
    const wanted = labels.map(label => joined.split("").filter((_, at) => joined.startsWith(label, at)).length)
    const found = labels.map((_, index) => automaton.hits(text).filter(hit => hit.index === index).length)
    expect([text, found]).toEqual([text, wanted])
  }
})

test("the longest labels are searched in bounded steps, whatever they hold", () => {
  const labels = ["rn".repeat(31), "whatsapp".repeat(7), "-".repeat(63), "paypal-".repeat(9), "0".repeat(63)]
  expect(labels.map(label => bundledBrands().imitationIn(label, () => false)?.brand.label ?? null)).toEqual([
    null,
    "whatsapp",
    null,
    "paypal",
    null,
  ])
})

test("one letter too many, missing, wrong or swapped is a slip, and a plural is none", () => {
  const slips = names("acme:acmme acme:ame acme:acne acme:amce acme:xacme acme:acmex")
  const others = names("acme:acme acme:acmes acmes:acme acme:amec acme:ac acme:emca")
  const judge = (pairs: readonly string[]) =>
    pairs.filter(pair => isSlip(pair.split(":")[1] ?? "", pair.split(":")[0] ?? ""))
  expect({ slips: judge(slips), others: judge(others) }).toEqual({ slips: [...slips], others: [] })
})
