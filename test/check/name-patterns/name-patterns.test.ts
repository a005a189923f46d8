import { describe, expect, test } from "bun:test"
import { parse } from "tldts"
import { InvariantError } from "../../../src/base/errors.ts"
import type { FillableSet } from "../../../src/check/lists/sets.ts"
import { normalizeName, registrableDomain } from "../../../src/check/lists/sources/normalized-name.ts"
import { readSourceBundle } from "../../../src/check/lists/sources/source-bundle.ts"
import { hasNameForm, parseNameForm } from "../../../src/check/name-patterns/name-form.ts"
import {
  bundledPatterns,
  createNamePatternMatcher,
  namePatternOf,
} from "../../../src/check/name-patterns/name-patterns.ts"
import { parseNamePatterns } from "../../../src/check/name-patterns/pattern-table.ts"
import { lists } from "../../support/app.ts"
import { repositoryFiles } from "../lists/sources/repository-files.ts"

const categoryOf = (registrable: string) => namePatternOf(registrable)?.category ?? null

/** Suffixes of Polish cities that their universities and networks run stand in the private section of the Public Suffix List. */
const POLISH_CITY = /^[a-z]+\.pl$/

describe("the table", () => {
  const patterns = bundledPatterns()

  test("has an example in each family, which that family alone decides", () => {
    const decided = patterns.map(({ id, example }) => [id, namePatternOf(example)?.id])
    expect(decided).toEqual(patterns.map(({ id }) => [id, id]))
    expect(new Set(patterns.map(({ id }) => id)).size).toBe(patterns.length)
  })

  test("knows schools of thirty countries and government bodies of thirty by their own suffixes", () => {
    for (const category of ["education", "government"] as const) {
      const suffixes = patterns.filter(pattern => pattern.category === category).flatMap(({ suffixes }) => suffixes)
      const countries = new Set(suffixes.map(suffix => suffix.slice(suffix.lastIndexOf(".") + 1)))
      expect([...countries].filter(country => country.length === 2).length).toBeGreaterThanOrEqual(30)
    }
  })

  test("is never asked under a suffix that hands names out for free, or that a set of suffixes decides", () => {
    const suffixes = [...new Set(patterns.flatMap(pattern => pattern.suffixes))]
    const wrong = suffixes.filter(suffix => {
      const name = `some-body.${suffix}`
      const { isIcann, publicSuffix } = parse(name, { allowPrivateDomains: true })
      const isKnown = isIcann === true || POLISH_CITY.test(suffix)
      return !isKnown || publicSuffix !== suffix || lists.pack.match(name, name).mask !== 0
    })
    expect(wrong).toEqual([])
  })

  test("holds no row whose precision is under 0.98, that was never measured, or that cannot be read", () => {
    const read = (forms: string, matched: number, right: number, category = "education") =>
      parseNamePatterns(["x", category, "Schools", "de", forms, "-", "gymnasium-bonn.de", matched, right].join("\t"))
    expect(read("*gymnasium", 50, 49)).toMatchObject([{ id: "x", exceptions: [], matched: 50, right: 49 }])
    expect(() => read("*gymnasium", 100, 97)).toThrow("x is right in 0.98")
    expect(() => read("*gymnasium", 0, 0)).toThrow("x is right in 0.98")
    expect(() => read("*gymnasium", 9, 10)).toThrow("x is right in 0.98")
    expect(() => read("*gym?", 9, 9)).toThrow("*gym? is a form")
    expect(() => read("*gymnasium", 9, 9, "personal")).toThrow("personal is one of")
  })
})

const REPOSITORY_NAMES_MS = 60_000

test(
  "the table is right in 98 of 100 of its matches among the names of the repository, by the registers there",
  () => {
    const read = readSourceBundle(repositoryFiles.read("data/catalogue.json"), repositoryFiles)
    if (read.kind === "refused") throw new Error(read.faults.join("\n"))
    const namesIn = (...sets: readonly FillableSet[]): ReadonlySet<string> => {
      const entries = read.bundle.sources.flatMap(({ row, entries }) => (sets.includes(row.set) ? entries : []))
      const names = entries.map(normalizeName).map(name => (name.kind === "name" ? registrableDomain(name.name) : null))
      return new Set(names.filter(name => name !== null))
    }
    // Throw-away lists have some schools because of their students: a name in a register counts as right all the same.
    const bodies = namesIn("education", "government")
    const others = namesIn("organisation", "popular", "personal", "relay", "disposable").difference(bodies)
    const matches = (names: ReadonlySet<string>) => [...names].filter(name => namePatternOf(name) !== null)
    const [right, wrong] = [matches(bodies), matches(others)]
    expect(right.length).toBeGreaterThan(4000)
    expect([wrong, right.length / (right.length + wrong.length) >= 0.98]).toEqual([wrong, true])
  },
  REPOSITORY_NAMES_MS,
)

describe("a form", () => {
  const has = (form: string, label: string) => {
    return hasNameForm(parseNameForm(form), `${label}.example`, label.length)
  }

  test("has a run of three characters and more, and of two and more beside a hyphen", () => {
    expect([has("cm*", "cmabc"), has("cm*", "cmab"), has("cm-*", "cm-ab"), has("cm-*", "cm-a")]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect([has("*gym", "abcgym"), has("*gym", "abgym"), has("*-gym", "ab-gym"), has("*-gym", "a-gym")]).toEqual([
      true,
      false,
      true,
      false,
    ])
  })

  test("has letters alone where the table says so, digits up to four, and the states of the United States", () => {
    expect([has("cityof@", "cityofbend"), has("cityof@", "cityofbend2"), has("cityof@", "cityof-bend")]).toEqual([
      true,
      false,
      false,
    ])
    expect([
      has("sd#", "sd1"),
      has("sd#", "sd1234"),
      has("sd#", "sd12345"),
      has("sd#", "sd"),
      has("sd#", "sdx"),
    ]).toEqual([true, true, false, false, false])
    expect([
      has("*county{st}", "adamscountyil"),
      has("*county{st}", "adamscountyxx"),
      has("*county{st}", "adamscounty"),
    ]).toEqual([true, false, false])
  })

  test("is complete: what stands before or after it is another name", () => {
    expect([
      has("um", "um"),
      has("um", "umx"),
      has("um", "xum"),
      has("school-#", "school-7"),
      has("school-#", "school-7a"),
    ]).toEqual([true, false, false, true, false])
  })

  test("is read whole, or not at all", () => {
    for (const text of ["", "a?b", "{xx}", "A"]) expect(() => parseNameForm(text)).toThrow(InvariantError)
  })
})

describe("a name", () => {
  test("of a school says so in the words of its country", () => {
    const schools = `gymnasium-nordstadt.de annenrealschule.de grundschule-am-see.de igs-nordend.de htl-neustadt.at
      lycee-jean-perrin.fr univ-exemple.fr liceo-rossini.it iesmontesol.es ceip-elpinar.es colegiosanmiguel.cl
      sp17.wroclaw.pl zs-kwiatowa.pl zs-lipova.cz sps-brnovice.cz gymnazium-zilina.sk noordzeecollege.nl obs-dewilg.nl
      basisschool-dezon.be uni-neustadt.de etchingenschool.org.uk oakfieldschools.org sau777.org oakdalecollege.org elmgrammar.co.uk stmarysprimaryschool.co.uk pleasantvalleyisd.net
      lincolnk12.org sd99.bc.ca bluewatersdsb.ca scoilmhuire.ie soroegymnasium.dk vasagymnasiet.se keskuskoulu.fi
      scoala-mihai.ro liceulpopescu.ro school17.ru licey-5.com.ua gimnazija-novi.rs jelgavasvidusskola.lv
      kaunogimnazija.lt tallinnapohikool.ee agrupamento-serra.pt faculdadeserra.com.br cegepduval.ca`.split(/\s+/)
    expect(schools.filter(name => categoryOf(name) !== "education")).toEqual([])
  })

  test("of a government body says so in the words of its country", () => {
    const bodies =
      `cityofspringvale.us cityofspringvale.org cityofhopewell.org townofmillbrook.com villageofoakdale.net countyofash.us
      ashcounty.us ashcounty.org ashtwp.us ashcountyoh.us ashgov.us ashsheriff.org landkreis-mittelberg.de
      stadt-mittelberg.de verbandsgemeinde-mittelberg.de gemeinde-mittelberg.at mairie-saint-paul.fr ville-saintpaul.fr
      conseil-departemental-99.fr comune-montebello.it ayto-valverde.es ayuntamientovalverde.com municipalidadvalverde.cl
      cm-valeverde.pt jf-valeverde.pt gemeente-oostdijk.nl ocmw-oostdijk.be gmina-lipowa.pl powiatlipowski.pl um.lapy.pl
      mesto-lipova.cz obec-lipova.sk lipovakommune.dk norrbykommun.se regionnorrby.se saarivald.ee saarisnovads.lv
      primarialunca.ro opcina-lipa.hr norvikbyggd.is ashcoco.ie millbrookparishcouncil.org.uk`.split(/\s+/)
    expect(bodies.filter(name => categoryOf(name) !== "government")).toEqual([])
  })

  test("of anybody else says nothing, though it has such a word in it", () => {
    const others = `city-hotel.us cityofhope.org citycenter.us schoolofmotion.com collegehumor.com universitycoop.com
      uniqlo.com unicredit.it unieuro.it lyceum-theatre.co.uk fahrschule-meier.de tanzschule-meier.de hundeschule-meier.de
      baumschule-meier.de bonlander.de freundeskreis-asyl.de arbeitskreis-energie.de stadtwerke-mittelberg.de
      stadt-anzeiger.de foerderverein-gymnasium-mitte.de kindermode.de kinder-welt.fr auto-ecole-paul.fr ecole-de-danse.fr
      hotel-de-ville-paris.fr colegiomedico.cl colegioabogados.org beautycollege.nl rijschool-jansen.nl trafikskola.se
      korskola.se autokoulu.fi tanssikoulu.fi scoaladesoferi.ro autoskola-brno.cz startwp.org getwp.net trueusd.org
      eurusd.net drivingschool.org.uk greatschools.org openschools.org barbercollege.org badgrammar.org mail2highschool.com partycity.com orangecounty.com munich.cl
      seurakunta.fi cmstudio.pt iestudio.es iestynwilliams.net comunicare.it gymbeam.cz gym-shark.de lyceenne.co elementaryos.io`.split(
      /\s+/,
    )
    expect(others.filter(name => categoryOf(name) !== null)).toEqual([])
  })

  test("is no pattern's in another country, under a free subdomain or an open education suffix, or in punycode", () => {
    const elsewhere = `cm-valeverde.com um.com sp17.com zs-lipova.com obs-dewilg.com uni-neustadt.com cityofash.eu.cc
      cityofash.github.io lycee-perrin.edu.pl xn--gymnasium-mnchen-1pb.de`.split(/\s+/)
    expect(elsewhere.filter(name => categoryOf(name) !== null)).toEqual([])
  })
})

test("a look-up knows what the registrable domain says, for its subdomains too, and nothing of a name without one", () => {
  const told = (domain: string, registrable: string | null) => lists.lookupDomain(domain, registrable).namePattern
  expect(told("cityofspringvale.us", "cityofspringvale.us")).toBe("government")
  expect(told("mail.cityofspringvale.us", "cityofspringvale.us")).toBe("government")
  expect(told("cityofspringvale.acme.us", "acme.us")).toBeNull()
  expect(told("us", null)).toBeNull()
})

test("the first family in order decides, and its exceptions count in the label alone", () => {
  const patterns = parseNamePatterns(
    [
      "one\teducation\tSchools\tus shop.us\t*schools\tshop\tashschools.us\t1\t1",
      "two\tgovernment\tBodies\tus\t*schools\t-\tashschools.us\t1\t1",
    ].join("\n"),
  )
  const match = createNamePatternMatcher(patterns)
  expect(
    ["ashschools.us", "shopschools.us", "ashschools.shop.us", "ashschool.us"].map(name => match(name)?.id ?? null),
  ).toEqual(["one", "two", "one", null])
})
