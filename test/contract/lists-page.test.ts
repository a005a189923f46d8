import { expect, test } from "bun:test"
import { SET_NAMES, SETS } from "../../src/check/lists/sets.ts"
import { REASON_NAMES, REASONS } from "../../src/contract/reasons.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { testApp } from "../support/app.ts"

/** A domain that each set of the lists holds. */
const OF_SET: { readonly [S in (typeof SET_NAMES)[number]]: string } = {
  disposable: "mailinator.com",
  relay: "duck.com",
  government: "bund.de",
  government_suffix: "nasa.gov",
  education: "ethz.ch",
  education_suffix: "mit.edu",
  personal: "gmail.com",
  organisation: "stripe.com",
  open_education_suffix: "springvale.edu.kg",
  free_subdomain: "springvale.eu.cc",
  agent_mailbox: "agentmail.to",
}

test("the page says of every set's domain which category it has and why, as a check does, and asks for no key", async () => {
  const { app, ask } = await testApp()
  for (const set of SET_NAMES) {
    const page = await app(new Request(`http://localhost${ROUTES.docsLists.path}?domain=${OF_SET[set]}`))
    const html = await page.text()
    const { body } = await ask("POST /v1/check", { body: { domain: OF_SET[set] } })
    expect([set, page.status]).toEqual([set, 200])
    expect(body["category"]).toBe(SETS[set].category)
    expect(html).toContain(`of-${SETS[set].category}`)
    const [reason] = REASON_NAMES.filter(name => html.includes(`${ROUTES.docsReasons.path}#${name}"`))
    expect(body["reasons"]).toContain(reason)
    expect(html).toContain(REASONS[reason ?? "no_evidence"].description)
    expect(html).toContain(`href="#set-${set}"`)
  }
})

test("an address that is pasted into the field stands in no page and no log", async () => {
  const { app, logged } = await testApp()
  for (const text of ["jane.doe@gmail.com", "jane.doe@", "jane doe"]) {
    const page = await app(new Request(`http://localhost${ROUTES.docsLists.path}?domain=${encodeURIComponent(text)}`))
    expect(await page.text()).not.toContain("jane")
  }
  expect(JSON.stringify(logged)).not.toContain("jane")
})

test("HEAD is answered as GET is, and POST is refused", async () => {
  const { app, ask } = await testApp()
  const url = `http://localhost${ROUTES.docsLists.path}?domain=gmail.com`
  const head = await app(new Request(url, { method: "HEAD" }))
  expect([head.status, await head.text()]).toEqual([200, ""])
  expect((await ask(`POST ${ROUTES.docsLists.path}`, { body: { domain: "gmail.com" } })).status).toBe(405)
})
