import { expect, test } from "bun:test"
import { parsePage } from "../../../src/check/homepage/page-parser.ts"
import { detectParking } from "../../../src/check/homepage/parking-signals.ts"

const URL_OF = { "acme.com": "https://acme.com/", "xn--mller-kva.de": "https://xn--mller-kva.de/" } as const

function mark(html: string, domain: keyof typeof URL_OF = "acme.com"): string | null {
  const url = URL_OF[domain]
  const registrableOf = (name: string): string => name.split(".").slice(-2).join(".")
  return detectParking({ domain, redirectChain: [url], page: parsePage(html, url), registrableOf })?.kind ?? null
}

test("an offer of the domain is recognized in every language of the table", () => {
  for (const description of [
    "This domain is for sale!",
    "This domain name may be for sale.",
    "The domain acme.com is for sale",
    "ACME.COM is for sale",
    "www.acme.com is available for purchase",
    "Buy this domain",
    "Make an offer on acme.com",
    "The owner of acme.com is offering it for sale for 999.",
    "Diese Domain steht zum Verkauf",
    "Die Domain acme.com kann erworben werden",
    "Domain zu verkaufen",
    "Ce nom de domaine est à vendre",
    "Le nom de domaine acme.com est en vente",
    "Este dominio está en venta",
    "Questo dominio è in vendita",
    "Este domínio está à venda",
    "Deze domeinnaam is te koop",
    "Ta domena jest na sprzedaż",
    "Tato doména je na prodej",
    "Denna domän är till salu",
    "Dette domæne er til salg",
    "Tämä verkkotunnus on myynnissä",
    "Ez a domain eladó",
    "Acest domeniu este de vânzare",
    "Bu alan adı satılıktır",
    "Домен продаётся",
    "Домен acme.com продается",
    "该域名正在出售",
    "此域名可轉讓",
    "このドメインは販売中です",
    "이 도메인은 판매 중입니다",
    "هذا النطاق للبيع",
    "Αυτό το domain πωλείται",
  ])
    expect([description, mark(`<h1>${description}</h1><p>Write to us.</p>`)]).toEqual([description, "sale"])
})

test("a registrar's page is recognized in every language of the table", () => {
  for (const description of [
    "This domain is parked",
    "This domain has been registered",
    "acme.com is registered",
    "This web page is parked for FREE",
    "This domain has expired",
    "Diese Domain wurde registriert",
    "Ce domaine a été enregistré",
    "Este dominio ha sido registrado",
    "Questo dominio è stato registrato",
    "Este domínio está registrado",
    "Deze domeinnaam is gereserveerd",
    "Ta domena jest zaparkowana",
    "Домен припаркован",
    "Этот домен припаркован",
    "该域名已被注册",
  ])
    expect([description, mark(`<h1>${description}</h1>`)]).toEqual([description, "registrar"])
})

test("the same words within an article, after a quote or about another name are no offer", () => {
  for (const description of [
    "<p>We read that this domain is for sale and laughed.</p>",
    '<p>"This domain is for sale", it said.</p>',
    "<p>other.com is for sale</p>",
    "<p>shop.acme.com is for sale</p>",
    "<p>notacme.com is for sale</p>",
    "<p>Write to sales@acme.com for sale prices.</p>",
    "<p>Our house is for sale.</p>",
    "<h1>Domain names for sale</h1>",
    "<p>Is this domain for sale?</p>",
    "<p>The domain is registered at Acme Registry since 1999.</p>",
    "<p>Die Domain wurde registriert, und wir begannen.</p>",
    `<p>This domain is for sale, the page said, ${"and so on ".repeat(25)}</p>`,
    `<p>This domain is for sale.</p>${"<p>But this is a page with a lot to read about how it came to be.</p>".repeat(25)}`,
  ])
    expect([description, mark(description)]).toEqual([description, null])
})

test("the domain's own name is recognized as A-labels and in Unicode", () => {
  expect(mark("<p>Müller.de ist zu verkaufen</p>", "xn--mller-kva.de")).toBe("sale")
  expect(mark("<p>xn--mller-kva.de is for sale</p>", "xn--mller-kva.de")).toBe("sale")
})

test("a link to a marketplace counts if it names the domain, on a page with little text", () => {
  const link = `<a href="https://sedo.com/search/details/?domain=acme.com">Offer</a>`
  expect(mark(link)).toBe("marketplace")
  expect(mark(`<a href="https://sedo.com/">Our partner</a>`)).toBeNull()
  expect(mark(`<p>${"A lot to read. ".repeat(120)}</p>${link}`)).toBeNull()
})

test("a directory listing is empty only without files", () => {
  const listing = (links: string) => `<title>Index of /</title><h1>Index of /</h1>${links}`
  expect(mark(listing(""))).toBe("listing")
  expect(mark(listing(`<a href="/">Parent</a><a href="cgi-bin/">x</a><a href="?C=M">x</a>`))).toBe("listing")
  expect(mark(listing(`<a href="paper.pdf">paper</a>`))).toBeNull()
  expect(mark("<title>Index of /</title><p>All that we wrote</p>")).toBeNull()
})

test("only a page with nothing but the text is a placeholder", () => {
  for (const description of [
    "Coming soon",
    "acme.com coming soon!",
    "Site under construction",
    "Website im Aufbau",
    "準備中",
  ])
    expect([description, mark(`<h1>${description}</h1>`)]).toEqual([description, "builder"])
  expect(mark("<h1>Coming soon</h1><p>Acme Pumps, 12 Mill Lane, Leeds</p>")).toBeNull()
})
