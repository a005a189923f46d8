import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Deadline } from "../../src/base/concurrency.ts"
import { known } from "../../src/base/finding.ts"
import { createHomepageProbe } from "../../src/check/homepage/homepage-probe.ts"
import { createFakeTime } from "../support/time.ts"
import { HOMEPAGE_CASES } from "./homepage-cases.ts"

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
