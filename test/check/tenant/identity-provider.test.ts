import { expect, test } from "bun:test"
import fc from "fast-check"
import PRODUCTS from "../../../data/identity/products.json" with { type: "json" }
import { identityProviderOf } from "../../../src/check/tenant/tenant-sign-in.ts"

const at = (authUrl: string) => identityProviderOf(authUrl, "acme.com")
const QUERY = "?username=x%40acme.com&wa=wsignin1.0&wtrealm=urn%3afederation%3aMicrosoftOnline&wctx="

/** Sign-in URLs, one for every sign of a product. */
const PAGES: Readonly<Record<keyof typeof PRODUCTS, readonly string[]>> = {
  okta: [
    `https://acme.okta.com/app/office365/exkeoydqsycke55hh356/sso/wsfed/passive${QUERY}`,
    `https://acme.oktapreview.com/app/office365/exk1/sso/wsfed/passive${QUERY}`,
    "https://acme.okta-emea.com/",
    "https://acme.okta.eu/",
    "https://agency.okta-gov.com/",
    "https://unit.okta.mil/",
    "https://unit.okta-miltest.com/",
    `https://login.acme.com/app/office365/exk37yw079IDNyIam4x7/sso/wsfed/passive${QUERY}`,
    "https://login.acme.com/app/acme_office_1/exk3/sso/saml",
  ],
  adfs: [
    `https://sts.acme.com/adfs/ls/${QUERY}`,
    "https://fs.elsewhere.net/ADFS/services/trust",
    "https://sts.acme.com/adfs",
  ],
  ping: [
    "https://sso.connect.pingidentity.com/sso/idp/SSO.saml2?idpid=1",
    "https://auth.pingone.com/00000000-0000-4000-8000-000000000000/saml20/idp/sso",
    ...["eu", "ca", "asia", "sg", "com.au"].map(region => `https://auth.pingone.${region}/1/saml20/idp/sso`),
    `https://federation.acme.com/idp/prp.wsf${QUERY}`,
    "https://pf.acme.com:9031/idp/SSO.saml2",
    "https://pf.acme.com:9031/idp/startSSO.ping?PartnerSpId=urn:federation:MicrosoftOnline",
  ],
  onelogin: ["https://acme.onelogin.com/trust/saml2/http-post/sso/917654"],
  duo: [
    "https://sso-1a2b.sso.duosecurity.com/saml2/sp/DI1/sso",
    "https://sso-1a2b.sso.duofederal.com/saml2/sp/DI1/sso",
    "https://duo.acme.com/dag/saml2/idp/SSOService.php?spentityid=DI1",
  ],
  jumpcloud: ["https://sso.jumpcloud.com/saml2/office365"],
  auth0: ["https://acme.eu.auth0.com/wsfed/1"],
  google: ["https://accounts.google.com/o/saml2/idp?idpid=C01"],
  secureauth: [
    "https://acme.identity.secureauth.com/SecureAuth5/",
    `https://idp.acme.com/SecureAuth23/${QUERY}`,
    "https://idp.acme.com/secureauth",
  ],
  rsa: ["https://acme.auth.securid.com/saml-fe/sso", "https://portal.acme.com/IdPServlet?idp_id=14knwft3srifx"],
}

test("every product is recognized by its pages", () => {
  for (const [product, pages] of Object.entries(PAGES))
    for (const page of pages) expect([page, at(page)]).toEqual([page, product])
})

test("every host of a vendor shows its product, and every path does on any host", () => {
  const shown = Object.values(PAGES)
    .flat()
    .map(page => `.${new URL(page).hostname}`)
  for (const [product, { hosts, paths }] of Object.entries(PRODUCTS)) {
    expect(hosts.filter(host => !shown.some(name => name.endsWith(`.${host}`)))).toEqual([])
    const facts = paths.map(path => at(`https://login.elsewhere.net${path.replaceAll("*", "x")}`))
    expect(facts.filter(provider => provider !== product)).toEqual([])
  }
})

test("a vendor's host wins over a product's path, and that over the domain's own host", () => {
  expect(at("https://acme.okta.com/adfs/ls/")).toBe("okta")
  expect(at("https://sts.acme.com/adfs/ls/")).toBe("adfs")
  expect(at("https://sts.acme.com/sso")).toBe("self_hosted")
})

test("the organisational domain and every host below it are self-hosted", () => {
  expect(at("https://acme.com/login")).toBe("self_hosted")
  expect(at("https://a.b.acme.com/login")).toBe("self_hosted")
  expect(at("https://ACME.com./login")).toBe("self_hosted")
  expect(at("https://idp.acme.com:8443/idp/profile/SAML2/POST/SSO")).toBe("self_hosted")
})

test("hosts that only look like a vendor's or the domain's own are others", () => {
  for (const host of [
    "okta.com.evil.com",
    "notokta.com",
    "okta.com-login.net",
    "google.com",
    "mail.google.com",
    "xaccounts.google.com.evil.net",
    "notacme.com",
    "acme.com.evil.net",
    "okta.com@evil.com",
    "127.0.0.1",
    "[::1]",
  ]) {
    expect([host, at(`https://${host}/login`)]).toEqual([host, "other"])
  }
})

test("paths count from their first segment, by complete segments, and not in the query", () => {
  for (const path of [
    "/adfsx/ls",
    "/x/adfs/ls",
    "/?next=/adfs/ls",
    "/#/adfs/ls",
    "/idp/profile/x.wsf",
    "/idp/x.wsfx",
    "/app/office365/sso/wsfed",
    "/app/a/b/c/sso/wsfed",
    "/idpservletx",
    "/dag/saml2",
    "/notsecureauth",
  ]) {
    expect([path, at(`https://login.elsewhere.net${path}`)]).toEqual([path, "other"])
  }
})

test("a URL that is neither http nor https has no provider", () => {
  for (const authUrl of [
    "",
    "sts.acme.com/adfs/ls",
    "/adfs/ls",
    "javascript:alert(1)//okta.com",
    "data:text/html,okta.com",
    "ftp://acme.okta.com/",
    "file:///adfs/ls",
    "https://",
    "https://exa mple.com/adfs",
  ]) {
    expect([authUrl, at(authUrl)]).toEqual([authUrl, null])
  }
})

test("a URL of 2048 characters is read, and a longer one is not", () => {
  const page = "https://acme.okta.com/"
  expect(at(page.padEnd(2048, "a"))).toBe("okta")
  expect(at(page.padEnd(2049, "a"))).toBeNull()
  expect(at(page.padEnd(100_000, "a"))).toBeNull()
})

test("control and format characters in a URL change nothing", () => {
  expect(at("\u0000 https://acme.ok\u200bta.com/\u001b[0m")).toBe("okta")
  expect(at("ht\ntps://sts.acme.com/ad\u0000fs/ls")).toBe("adfs")
})

test("no URL makes it throw", () => {
  const facts = new Set<string | null>([...Object.keys(PRODUCTS), "self_hosted", "other", null])
  const text = fc.string({ unit: "binary" })
  fc.assert(
    fc.property(fc.constantFrom("", "https://", "https://acme.com/"), text, (start, rest) => {
      expect(facts.has(at(start + rest))).toBe(true)
    }),
  )
})
