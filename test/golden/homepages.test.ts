import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Budget } from "../../src/base/budget.ts"
import { known } from "../../src/base/finding.ts"
import { homepageProbe } from "../../src/check/probes/homepage.ts"
import { stoppedTime } from "../world/time.ts"
import { HOMEPAGE_CASES } from "./homepage-cases.ts"

const PAGES = join(import.meta.dir, "homepages")

for (const { page, is, status = 200, contentType = "text/html" } of HOMEPAGE_CASES) {
  test(`the page ${page} is ${is}`, async () => {
    const body = await Bun.file(join(PAGES, `${page}.page`)).bytes()
    const { later } = stoppedTime()
    const probe = homepageProbe({
      visit: async url => ({
        known: true,
        trail: [url],
        value: { status, contentType, body, isCut: false, isDowngraded: false },
      }),
      later,
      registrableOf: name => name.split(".").slice(-2).join("."),
    })
    const { homepage, mark } = await probe("acme-holdings.com", new Budget(later, 5000))
    const isParked = is !== "found" && is !== "none"
    expect({ homepage, kind: mark?.kind ?? null }).toEqual({
      homepage: known(isParked ? "parked" : is),
      kind: isParked ? is : null,
    })
  })
}

test("every page that is kept has its case", () => {
  const kept = readdirSync(PAGES).map(name => name.replace(/\.page$/, ""))
  expect(kept.sort()).toEqual(HOMEPAGE_CASES.map(({ page }) => page).sort())
})
