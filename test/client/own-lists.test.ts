import { expect, test } from "bun:test"
import { createClient } from "../../src/client/client.ts"
import { serverProcess } from "../contract/server-process.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { faultServer, problemOf, says } from "./fault-server.ts"
import { loopbackPlatform } from "./loopback-platform.ts"

/** No time passes unless a test says so. */
const TIMEOUT_MS = 999_999
const BUSY = problemOf(409, "idempotency_in_progress")

test("the client adds, finds, pages and removes entries, and gives the first answer again for the same key", async () => {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const { platform } = loopbackPlatform()
  const { blockList, allowList } = createClient(
    { url: server.url, key: server.firstKey, timeoutMs: TIMEOUT_MS },
    platform,
  )
  const add = () => blockList.add(["jane@acme.com", { entry: "acme.org", note: "x" }, "x"], { idempotencyKey: "k" })
  const first = await add()
  expect(first).toMatchObject({ outcome: "answered", result: { added: 2, present: 0, invalid: 1 } })
  expect(await blockList.find("acme.org")).toMatchObject({ result: { entry: "acme.org", note: "x" } })
  expect(await allowList.find("acme.org")).toMatchObject({ outcome: "answered", result: null })
  const page = await blockList.page({ limit: 1 })
  expect(page).toMatchObject({ result: { entries: [{ entry: "acme.org" }], next: "acme.org", total: 2 } })
  expect(await blockList.page({ after: "acme.org" })).toMatchObject({ result: { entries: [{ kind: "address" }] } })
  expect(await blockList.remove(["jane@acme.com", "b.com"])).toMatchObject({ result: { removed: 1, absent: 1 } })
  expect(await add()).toMatchObject({ result: first.outcome === "answered" ? first.result : null })
  expect(await blockList.add([], {})).toMatchObject({ because: "refused", problem: { code: "invalid_input" } })
})

test("a key is sent with each try, and a request that is still running elsewhere is tried again", async () => {
  const server = await faultServer(says(409, BUSY), says(200, '{"added":1,"results":[]}'))
  const { platform } = loopbackPlatform()
  const client = createClient({ url: server.url, key: "svc_live_x", retries: 1, timeoutMs: TIMEOUT_MS }, platform)
  expect(await client.blockList.add(["acme.com"], { idempotencyKey: "k" })).toMatchObject({ outcome: "answered" })
  expect(server.seen).toHaveLength(2)
  const wrong = await client.blockList.add(["a.com"], { idempotencyKey: "with spaces" }).catch(String)
  expect(wrong).toMatch(/idempotencyKey/)
})
