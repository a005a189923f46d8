import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { NO_OWN_LIST_MATCH } from "../../../src/check/check.ts"
import type { CallerCredentials } from "../../../src/customers/keys/key-cache.ts"
import { Exchange } from "../../../src/http/exchange.ts"
import { AccountLog } from "../../../src/http/metrics/account-log.ts"
import { loggedStore } from "../../customers/request-log/logged-store.ts"
import { writtenAt } from "../../customers/temp-store.ts"
import { check, testApp } from "../../support/app.ts"
import { signedInBrowser } from "../../support/html-browser.ts"

/** A part of every input, which only a local part, or something that may be one, holds. */
const SECRET = "q7zxk4unique"

/** Addresses, and what people make of them when they slip. */
const INPUTS = [
  `${SECRET}@gmail.com`,
  `${SECRET}+tag@mailinator.com`,
  `"${SECRET} x"@acme.com`,
  `${SECRET}@@acme.com`,
  `${SECRET}@`,
  `@${SECRET}`,
  `${SECRET}.acme.com`,
  `${SECRET}@acme`,
  `${SECRET}@[192.0.2.1]`,
  `acme.com@${SECRET}`,
  `${SECRET} acme.com`,
  `${SECRET}`,
  `box@${SECRET}.alias.example.org`,
  `https://${SECRET}@acme.com/`,
  `https://acme.com/?email=${SECRET}@acme.com#${SECRET}`,
  `https://${SECRET}.acme.com/${SECRET}`,
  `disposable+${SECRET}@mailkind.test`,
]

test("nothing of an address is in any byte of the database, whatever was checked", async () => {
  const { requestLog, accountId, path, rowCount } = await loggedStore()
  const log = new AccountLog(requestLog)
  const caller: CallerCredentials = {
    kind: "active",
    key: { id: "key_1", kind: "secret", origins: [] },
    account: { id: accountId, tier: 4, acceptedTermsVersion: null, acceptedTermsAtMs: null },
  }
  for (const input of INPUTS) {
    const request = new Request(`http://localhost/v1/check?email=${encodeURIComponent(input)}`, {
      headers: { "X-Request-Id": SECRET, Referer: `https://shop.example/${SECRET}` },
    })
    const subject = parseSubject(detectSubjectKind(input), input, "mailkind.test")
    const outcome = await check({
      ...{ subject, policy: "b2b" as const, isDeep: false, includeTenant: false },
      ownListMatch: NO_OWN_LIST_MATCH,
    })
    const exchange = new Exchange(request, "req_1", "getCheck")
    exchange.caller = caller
    exchange.result = { units: 1, check: outcome, categoryCounts: null }
    log.record(exchange, new Response(), 1)
  }
  await requestLog.flush()
  expect(await rowCount()).toBe(INPUTS.length)
  const bytes = writtenAt(path)
  expect(bytes).toContain("mailinator.com")
  expect(bytes.toLowerCase()).not.toContain(SECRET)
})

test("the same holds for requests of every route, batches and the dashboard", async () => {
  const house = await testApp()
  const { ask, store, customers } = house
  for (const input of INPUTS) {
    const headers = { "X-Request-Id": SECRET }
    await ask("POST /v1/check", { body: { email: input }, headers })
    await ask("POST /v1/check", { body: { domain: input } })
    await ask("POST /v1/check", { body: { url: input } })
    await ask(`GET /v1/check?email=${encodeURIComponent(input)}`)
    const { post } = await signedInBrowser(house)
    await post("/dashboard/try", { asked: input, policy: "b2b" })
  }
  await ask("POST /v1/check/batch", { body: { items: INPUTS } })
  await customers.requestLog?.flush()
  const rows = await store.all<Record<string, unknown>>("SELECT * FROM request_log")
  expect(rows.length).toBeGreaterThan(INPUTS.length * 4)
  const [main] = await store.all<{ file: string }>("PRAGMA database_list")
  const written = ["", "-wal"].map(ending => readFileSync(`${main?.file}${ending}`, "latin1")).join("")
  expect(written).toContain("mailinator.com")
  expect(written.toLowerCase()).not.toContain(SECRET)
})
