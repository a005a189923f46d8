import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { testApp } from "../support/app.ts"

setDefaultTimeout(300_000)

const NODES = 3
const PAGE = "https://app.example.com"
const TEST = "GET /v1/check?email=business%40mailkind.test"

/** More is asked of no caller before it is refused. */
const ASKED_MAX = 2_000

/** How many are answered before the first that is refused, and that refusal. */
async function answeredBefore<T extends { readonly status: number }>(ask: () => Promise<T>) {
  for (let count = 0; count < ASKED_MAX; count++) {
    const answer = await ask()
    if (answer.status === 429) return { count, refusal: answer }
  }
  throw new Error(`nothing was refused in ${ASKED_MAX} requests`)
}

describe("one of three nodes", () => {
  test("lets through its part of an account's requests, and tells the whole as the policy, its part as what is left", async () => {
    const harness = await testApp({ tier: 1, tiers: "1=30/-/-", nodesCount: NODES })
    const first = await harness.ask(TEST)
    expect([first.headers.get("ratelimit-policy"), first.headers.get("ratelimit")]).toEqual([
      '"second";q=30;w=1',
      '"second";r=19;t=1',
    ])
    const { count, refusal } = await answeredBefore(() => harness.ask(TEST))
    expect(count).toBe(19)
    expect(refusal.body).toMatchObject({ code: "rate_limited", limit: 30, retry_after: 1 })
    expect(refusal.headers.get("ratelimit")).toBe('"second";r=0;t=1')
    await harness.time.tick(1000)
    expect((await answeredBefore(() => harness.ask(TEST))).count).toBe(10)
    const usage = await harness.ask("GET /v1/usage")
    expect(usage.status).toBe(429)
    await harness.time.tick(1000)
    const { body } = await harness.ask("GET /v1/usage")
    expect(body).toMatchObject({ limits: { requests_per_second: 30 } })
  })

  test("lets through its part of a publishable key's requests, and the whole burst of one visitor", async () => {
    const harness = await testApp({ tier: 0, nodesCount: NODES })
    const { text: key } = await harness.newKey([PAGE])
    const from = (peer: string) => harness.ask(TEST, { key, headers: { Origin: PAGE, "x-test-peer": peer } })
    const visitors = LIMITS.publishableClientPerSecond * LIMITS.burstFactor
    expect((await answeredBefore(() => from("192.0.2.1"))).count).toBe(visitors)
    let others = 0
    const { count } = await answeredBefore(() => from(`198.51.100.${others++}`))
    expect(visitors + count).toBe(Math.floor((LIMITS.publishablePerSecond * LIMITS.burstFactor) / NODES))
    // After a second the visitor has a third of two requests.
    await harness.time.tick(1000)
    expect((await from("192.0.2.1")).status).toBe(429)
    await harness.time.tick(500)
    expect((await from("192.0.2.1")).status).toBe(200)
  })

  test("lets a visitor without a key do at once what one server would, and then its part", async () => {
    const harness = await testApp({ nodesCount: NODES })
    const visit = () => harness.ask(TEST, { key: null, headers: { "x-test-peer": "192.0.2.1" } })
    expect((await answeredBefore(visit)).count).toBe(LIMITS.keylessPerSecond)
    await harness.time.tick(3000)
    expect((await answeredBefore(visit)).count).toBe(LIMITS.keylessPerSecond)
    await harness.time.tick(1000)
    expect((await answeredBefore(visit)).count).toBe(Math.floor(LIMITS.keylessPerSecond / NODES))
  })
})
