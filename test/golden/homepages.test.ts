import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Deadline } from "../../src/base/concurrency.ts"
import { known } from "../../src/base/finding.ts"
import { createHomepageProbe } from "../../src/check/homepage/homepage-probe.ts"
import type { ParkingSignalKind } from "../../src/check/homepage/parking-signals.ts"
import { createFakeTime } from "../support/time.ts"

/** A page of test/golden/homepages/ as the homepage of acme-holdings.com, and what it is. */
type HomepageCase = {
  readonly page: string
  readonly is: "found" | "none" | ParkingSignalKind
  /** Absent: 200. */
  readonly status?: number
  /** Absent: `text/html`, without a character set. */
  readonly contentType?: string
}

/** Kinds of pages that nobody built, and of real websites that look like one of them. */
const HOMEPAGE_CASES: readonly HomepageCase[] = [
  { page: "nginx-default", is: "server" },
  { page: "apache-ubuntu-default", is: "server" },
  { page: "apache-debian-default", is: "server" },
  { page: "apache-it-works", is: "server" },
  { page: "centos-test-page", is: "server", status: 403 },
  { page: "iis-windows-server", is: "server" },
  { page: "plesk-default", is: "server" },
  { page: "cpanel-default", is: "server" },
  { page: "caddy-default", is: "server" },
  { page: "tomcat-default", is: "server" },
  { page: "azure-app-service", is: "server" },
  { page: "empty-listing", is: "listing" },
  { page: "hugedomains-lander", is: "sale" },
  { page: "sedo-frame", is: "parking" },
  { page: "sedo-title-german", is: "parking" },
  { page: "godaddy-lander-script", is: "parking" },
  { page: "godaddy-lander", is: "parking" },
  { page: "adsense-for-domains", is: "parking" },
  { page: "bodis-frame", is: "parking" },
  { page: "dan-refresh", is: "marketplace" },
  { page: "for-sale-english", is: "sale" },
  { page: "for-sale-own-name", is: "sale" },
  { page: "for-sale-french", is: "sale" },
  { page: "for-sale-spanish", is: "sale" },
  { page: "for-sale-russian", is: "sale" },
  { page: "for-sale-chinese", is: "sale" },
  { page: "registered-japanese", is: "registrar" },
  { page: "registrar-gandi", is: "registrar" },
  { page: "registrar-namecheap", is: "registrar" },
  { page: "registrar-united-domains", is: "registrar" },
  { page: "registrar-dutch", is: "registrar", status: 404 },
  { page: "hier-entsteht", is: "registrar" },
  { page: "wix-not-connected", is: "builder", status: 404 },
  { page: "godaddy-launching-soon", is: "builder" },
  { page: "wordpress-untouched", is: "builder" },
  { page: "account-suspended", is: "suspended", status: 503 },
  { page: "coming-soon-bare", is: "builder" },
  { page: "empty-body", is: "none" },
  { page: "real-article-about-domains", is: "found" },
  { page: "real-broker", is: "found" },
  { page: "real-little-text", is: "found" },
  { page: "real-one-picture", is: "found" },
  { page: "real-script-app", is: "found" },
  { page: "real-coming-soon-company", is: "found" },
  { page: "real-hier-entsteht-company", is: "found" },
  { page: "real-houses-for-sale", is: "found" },
  { page: "real-nginx-tutorial", is: "found" },
  { page: "real-parking-garage", is: "found" },
  { page: "real-frameset", is: "found" },
  { page: "real-meta-refresh", is: "found" },
  { page: "real-french-registrar-customer", is: "found" },
  { page: "real-filled-listing", is: "found" },
  { page: "real-hosting-company", is: "found" },
  { page: "real-wordpress-default-tagline", is: "found" },
  { page: "real-chinese-company", is: "found" },
  { page: "real-adsense-site", is: "found" },
]

const PAGES = join(import.meta.dir, "homepages")

for (const { page, is, status = 200, contentType = "text/html" } of HOMEPAGE_CASES) {
  test(`the page ${page} is ${is}`, async () => {
    const body = await Bun.file(join(PAGES, `${page}.page`)).bytes()
    const { later: setTimer } = createFakeTime()
    const probe = createHomepageProbe({
      fetchPage: async url => ({
        known: true,
        redirectChain: [url],
        value: { status, contentType, body, isTruncated: false, isDowngraded: false },
      }),
      setTimer,
      registrableOf: name => name.split(".").slice(-2).join("."),
    })
    const { homepage, parkingSignal } = await probe("acme-holdings.com", new Deadline(setTimer, 5000))
    const isParked = is !== "found" && is !== "none"
    expect({ homepage, kind: parkingSignal?.kind ?? null }).toEqual({
      homepage: known(isParked ? "parked" : is),
      kind: isParked ? is : null,
    })
  })
}

test("every page that is kept has its case", () => {
  const kept = readdirSync(PAGES).map(name => name.replace(/\.page$/, ""))
  expect(kept.sort()).toEqual(HOMEPAGE_CASES.map(({ page }) => page).sort())
})
