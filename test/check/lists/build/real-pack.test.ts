import { beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { PackManifest } from "../../../../src/check/lists/manifest.ts"
import { openPack, type Pack } from "../../../../src/check/lists/pack/pack.ts"
import { SETS, setsOfMask } from "../../../../src/check/lists/sets.ts"
import { isCurated, parseCatalogue } from "../../../../src/check/lists/sources/catalogue.ts"
import { registrableDomain } from "../../../../src/check/lists/sources/normalized-name.ts"
import { decodeBundle, encodeBundle, readSourceBundle } from "../../../../src/check/lists/sources/source-bundle.ts"
import { repositoryFiles } from "../sources/repository-files.ts"
import { BUILT_PACK, openRealPack } from "./real-pack.ts"

const MANIFEST: PackManifest = JSON.parse(repositoryFiles.read("data/manifest.json"))

let pack: Pack
beforeAll(() => {
  pack = openRealPack()
}, 300_000)

const sets = (domain: string) => pack.match(domain, registrableDomain(domain)).sets

test("the pack of the real sources is intact and large", () => {
  expect(pack.verify()).toEqual({ ok: true })
  expect(pack.entryCounts.disposable).toBeGreaterThan(150_000)
  expect(pack.entryCounts.education).toBeGreaterThan(10_000)
})

test("no public suffix makes names under it disposable", () => {
  for (const suffix of ["edu.pl", "com.ar", "my.id", "web.id", "id.au", "edu.my", "edu.sg", "eu.org", "pp.ua"])
    expect([suffix, sets(`acme-werke.${suffix}`).includes("disposable"), sets(suffix).includes("disposable")]).toEqual([
      suffix,
      false,
      false,
    ])
})

test("large companies, agencies and universities are never disposable", () => {
  const names =
    "craigslist.org job.craigslist.org google.tm yandex.net afternic.com mooo.com test.com hola.org blogs.com 21cn.com com.com dynamic-dns.net dallas.gov pw.edu.pl uj.edu.pl"
  for (const name of names.split(" ")) expect([name, sets(name).includes("disposable")]).toEqual([name, false])
  for (const name of ["google.com", "gmail.com", "whitehouse.gov", "microsoft.com"])
    expect(sets(name)).not.toContain("disposable")
})

test("Polish universities are education and American cities are government", () => {
  expect(sets("pw.edu.pl").map(set => SETS[set].category)).toEqual(["education"])
  expect(sets("student.uj.edu.pl").map(set => SETS[set].category)).toEqual(["education"])
  expect(sets("dallas.gov").map(set => SETS[set].category)).toEqual(["government"])
})

test("American counties, cities and towns outside .gov are government, and look-alikes of their names are not", () => {
  const names =
    "hillcounty.us co.polk.wi.us cityofvancouver.us mail.townofhempstead.org villageofbronxville.com lowermerion.org aberdeen.sd.us washoecounty.us cherokee.org"
  for (const name of names.split(" "))
    expect([name, sets(name).map(set => SETS[set].category)]).toEqual([name, ["government"]])
  for (const name of ["cityofvancouver-jobs.us", "hillcounty.shop", "townofhempstead.net", "polk.wi.us"])
    expect([name, sets(name)]).toEqual([name, []])
})

test("bodies of government are known by their names in every language of their country", () => {
  const names =
    "parlament.ch parlement.ch parlamento.ch tribunal-federal.ch bnb.be nbb.be diekammer.be ostbelgien.be riksdagen.fi eduskunta.fi vasa.fi vaasa.fi landtag-bz.org alava.net araba.eus deputacionlugo.gal canada.ca parl.ca"
  for (const name of names.split(" ")) expect([name, sets(name)]).toEqual([name, ["government"]])
})

test("relays and their subdomains are relays and not disposable", () => {
  const names =
    "duck.com mozmail.com addy.io anonaddy.me anonaddy.com simplelogin.com simplelogin.io simplelogin.fr simplelogin.co 8shield.net aleeas.com jane.anonaddy.com sudomail.com cloaked.id boun.cr inboxalias.com anonmails.de despam.it"
  for (const name of names.split(" ")) expect([name, sets(name)]).toEqual([name, ["relay"]])
})

test("the relay of a provider is a relay below it, and the provider stays personal", () => {
  for (const name of ["private.icloud.com", "sub.private.icloud.com"])
    expect([name, sets(name)]).toEqual([name, ["relay"]])
  for (const name of ["icloud.com", "icloud.com.cn", "mail.icloud.com"])
    expect([name, sets(name)]).toEqual([name, ["personal"]])
})

test("customers of access providers and of certified mail are personal, by the provider's domain", () => {
  const names =
    "privatmail.dk jyde.dk 1031.inord.dk co1.wind.jp po.nsknet.or.jp orange.pl pec.it legalmail.it arubapec.it posteo.com.br zeggis.nl oninet.ne.jp hs03.kep.tr col3.telecom.com.co"
  for (const name of names.split(" ")) expect([name, sets(name)]).toEqual([name, ["personal"]])
})

test("mailboxes of programs and names handed out for free are told from their neighbours", () => {
  for (const name of ["agentmail.to", "mailmolt.com", "team.inbounter.net"])
    expect([name, sets(name)]).toEqual([name, ["agent_mailbox"]])
  for (const name of ["acme.cc.cd", "acme.is-a.dev", "acme.kozow.com", "a.b.cloudns.cl"])
    expect([name, sets(name)]).toEqual([name, ["free_subdomain"]])
  for (const name of ["acme.uk.com", "acme.github.io", "acme.co.uk", "inbounter.com"])
    expect([name, sets(name)]).toEqual([name, []])
})

test("companies in free-mail lists are not personal", () => {
  for (const name of [
    "facebook.com",
    "alibaba.com",
    "starbucks.com",
    "ancestry.com",
    "name.com",
    "berlin.de",
    "clerk.com",
    "nus.edu.sg",
  ])
    expect([name, sets(name).includes("personal")]).toEqual([name, false])
})

test("words of functions are roles in every language, and names of persons are none", () => {
  const roles = new Set(pack.words.role)
  const functions =
    "iroda állás obecny-urad sťažnosti vinzari epikoinonia tuvan zhaosheng müügi pardavimas pārdošana racunovodja contatto post termine"
  for (const word of functions.split(" ")) expect([word, roles.has(word)]).toEqual([word, true])
  const names = "abc asset beta brand care dev english general job junk mentor merchant per prime sem server"
  for (const word of names.split(" ")) expect([word, roles.has(word)]).toEqual([word, false])
})

test("curated providers are personal, and disposable lists beat uncurated provider lists", () => {
  for (const name of ["gmail.com", "yahoo.com", "hotmail.com", "outlook.com", "icloud.com", "gmx.de", "web.de"])
    expect([name, sets(name)]).toEqual([name, ["personal"]])
  const lists = ["email-providers/all.json", "free-email-domains/domains.json"]
  for (const list of lists) {
    const names: string[] = JSON.parse(repositoryFiles.read(`node_modules/${list}`))
    const both = names.filter(name =>
      pack.listingsOf(name).some(({ set, outcome }) => set === "disposable" && outcome === "kept"),
    )
    expect(both.length / names.length).toBeGreaterThan(0.4)
    expect(both.filter(name => sets(name).includes("personal"))).toEqual([])
  }
})

test("known throw-away domains and their subdomains are disposable", () => {
  for (const name of [
    "mailinator.com",
    "guerrillamail.com",
    "10minutemail.com",
    "yopmail.com",
    "temp-mail.org",
    "x.y.mailinator.com",
  ])
    expect([name, sets(name)]).toEqual([name, ["disposable"]])
})

test("typo domains are on the disposable lists", () => {
  expect(sets("gmial.com")).toEqual(["disposable"])
})

test("nearly all names of the three curated disposable packages are disposable", () => {
  const names: string[] = JSON.parse(
    repositoryFiles.read("node_modules/disposable-email-domains-js/dist/dict/disposable_email_blocklist.json"),
  )
  expect(names.filter(name => sets(name).includes("disposable")).length / names.length).toBeGreaterThan(0.98)
})

test("a name is in at most one of the sets that exclude each other", () => {
  const several = [...pack.names()].filter(name => {
    const kept = pack
      .listingsOf(name)
      .filter(({ set, outcome }) => outcome === "kept" && SETS[set].matches === "name" && set !== "organisation")
    return new Set(kept.map(({ set }) => set)).size > 1
  })
  expect(several).toEqual([])
})

test("no organisation is also personal, relay or disposable", () => {
  const mixed = [...pack.names()].filter(name => {
    const { mask, entry } = pack.match(name, name)
    const held = setsOfMask(mask)
    return (
      entry === name &&
      held.includes("organisation") &&
      held.some(set => ["personal", "relay", "disposable"].includes(set))
    )
  })
  expect(mixed).toEqual([])
})

test("no curated entry is a public suffix", () => {
  const catalogue = parseCatalogue(repositoryFiles.read("data/catalogue.json"))
  const curated = catalogue.kind === "catalogue" ? catalogue.sources.filter(isCurated) : []
  expect(curated.length).toBeGreaterThan(10)
  expect(curated.filter(({ id }) => "public_suffix" in (MANIFEST.sources[id]?.dropped ?? {}))).toEqual([])
})

test("the manifest accounts for every entry of every real source", () => {
  for (const [id, { read, repeated, kept, dropped }] of Object.entries(MANIFEST.sources))
    expect([id, read]).toEqual([id, repeated + kept + Object.values(dropped).reduce((sum, count) => sum + count, 0)])
})

test("the first targets are the largest providers, and every target is a listed name", () => {
  expect(pack.targets.slice(0, 5).map(({ name }) => name)).toEqual([
    "gmail.com",
    "yahoo.com",
    "hotmail.com",
    "outlook.com",
    "icloud.com",
  ])
  expect(new Set(pack.targets.map(({ name }) => name)).size).toBe(pack.targets.length)
  expect(
    pack.targets.filter(({ name, kind }) => !sets(name).includes(kind === "provider" ? "personal" : "organisation")),
  ).toEqual([])
})

test("the pack of this checkout is the one of its manifest", () => {
  // `lists build --check`, which `bun run verify` begins with, builds both from the sources again.
  const digest = new Bun.CryptoHasher("sha256").update(readFileSync(BUILT_PACK)).digest("hex")
  expect(digest).toBe(MANIFEST.pack.sha256)
})

test("the bundle of the real sources is decoded as it was encoded", () => {
  const read = readSourceBundle(repositoryFiles.read("data/catalogue.json"), repositoryFiles)
  if (read.kind === "refused") throw new Error(read.faults.join("\n"))
  expect(Bun.deepEquals(decodeBundle(new Uint8Array(encodeBundle(read.bundle))), read.bundle)).toBe(true)
}, 300_000)

test("a flipped byte in any part of the real pack is detected", () => {
  const bytes = new Uint8Array(readFileSync(BUILT_PACK))
  const step = Math.floor(bytes.length / 60)
  for (let at = 7; at < bytes.length; at += step) {
    const changed = bytes.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    const found = openPack(changed)
    expect([at, found.kind === "open" && found.pack.verify().ok]).toEqual([at, false])
  }
})
