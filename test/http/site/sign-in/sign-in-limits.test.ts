import { expect, test } from "bun:test"
import { createAccount } from "../../../../src/customers/accounts/accounts.ts"
import type { RateLimit } from "../../../../src/customers/quota/rate/rate-limiter.ts"
import { createSignInLimits } from "../../../../src/http/site/sign-in/sign-in-limits.ts"
import { random } from "../../../customers/temp-store.ts"
import { testApp } from "../../../support/app.ts"
import { createBrowser } from "../../../support/html-browser.ts"
import { settled } from "../../../support/time.ts"

/** A server, and how somebody of a network asks for a sign-in there. */
async function opened(nodesCount = 1) {
  const harness = await testApp({ nodesCount })
  const from = (peer: string) =>
    createBrowser(harness.app, { headers: { "x-test-peer": peer }, followsRedirects: true })
  const asks = (email: string, peer: string) => from(peer).post("/sign-in", { email })
  return { ...harness, from, asks }
}

test("one address is asked for three times at once, then once in five minutes, from wherever, with an account or without", async () => {
  const { asks, changes, time, mails } = await opened()
  await createAccount(changes, random, { email: "known@example.com", tier: 0, termsVersion: null })
  const facts = []
  for (const [at, email] of ["known@example.com", "nobody@example.com"].entries()) {
    for (let count = 0; count < 3; count++) expect((await asks(email, `192.0.2.${10 * at + count}`)).status).toBe(200)
    const refused = await asks(email.toUpperCase(), `192.0.2.${10 * at + 9}`)
    expect(refused.status).toBe(429)
    expect(refused.headers.get("retry-after")).toBe("300")
    expect(refused.text).toContain("It goes on in 5 minutes.")
    expect(refused.text).not.toContain("example.com")
    facts.push(refused.text)
  }
  expect(facts[0]).toBe(facts[1] ?? "")
  await settled()
  expect(mails).toHaveLength(6)
  await time.tick(299_999)
  expect((await asks("known@example.com", "192.0.2.50")).status).toBe(429)
  await time.tick(1)
  expect((await asks("known@example.com", "192.0.2.50")).status).toBe(200)
  expect((await asks("known@example.com", "192.0.2.51")).status).toBe(429)
})

test("one client asks ten times at once, then once in a minute, whatever it asks for", async () => {
  const { asks, time } = await opened()
  for (let count = 0; count < 10; count++)
    expect((await asks(count % 2 === 0 ? `jane${count}@example.com` : "no address", "192.0.2.7")).status).not.toBe(429)
  const refused = await asks("another@example.com", "192.0.2.7")
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"])
  expect((await asks("another@example.com", "192.0.2.8")).status).toBe(200)
  await time.tick(60_000)
  expect((await asks("another@example.com", "192.0.2.7")).status).toBe(200)
})

test("all together ask three hundred times at once, then once in a second", async () => {
  const { asks } = await opened()
  for (let count = 0; count < 300; count++)
    expect((await asks(`jane${count}@example.com`, `198.51.${count >> 8}.${count & 255}`)).status).toBe(200)
  const refused = await asks("late@example.com", "203.0.113.1")
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"])
  expect(refused.text).toContain("It goes on in a second.")
})

test("one client brings thirty links and codes at once, then one in ten seconds", async () => {
  const { from, time } = await opened()
  const guesser = from("192.0.2.7")
  for (let count = 0; count < 30; count++)
    expect(
      (await guesser.post(count % 2 === 0 ? "/sign-in/code" : "/sign-in/link", { code: "1", token: "1" })).status,
    ).toBe(400)
  for (const path of ["/sign-in/code", "/sign-in/link"]) {
    const refused = await guesser.post(path, { code: "123456", token: "x" })
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"])
  }
  expect((await from("192.0.2.8").post("/sign-in/link", { token: "x" })).status).toBe(400)
  await time.tick(10_000)
  expect((await guesser.post("/sign-in/link", { token: "x" })).status).toBe(400)
})

test("no address is held in clear by what limits", () => {
  const subjects: string[] = []
  const rates = {
    admit: (subject: string, { burst }: RateLimit) => {
      subjects.push(subject)
      return { waitS: 0, remaining: burst }
    },
  }
  createSignInLimits(rates, () => "192.0.2.1").admitEmail("jane@example.com")
  expect(subjects).toHaveLength(2)
  expect(subjects.join()).not.toMatch(/jane|example/)
})

test("one of three nodes mails an address as often at once as one server would, since a person may come to one alone", async () => {
  const { asks, time } = await opened(3)
  for (let count = 0; count < 3; count++) expect((await asks("jane@example.com", `192.0.2.${count}`)).status).toBe(200)
  await time.tick(899_999)
  expect((await asks("jane@example.com", "192.0.2.9")).status).toBe(429)
  await time.tick(1)
  expect((await asks("jane@example.com", "192.0.2.9")).status).toBe(200)
})
