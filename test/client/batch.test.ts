import { expect, test } from "bun:test"
import { createClient } from "../../src/client/client.ts"
import type { ClientPlatform } from "../../src/client/platform.ts"
import { answers, FAULTS, type FaultReply, faultServer, problemOf, says } from "./fault-server.ts"
import { loopbackPlatform } from "./loopback-platform.ts"

const addresses = (count: number): string[] => Array.from({ length: count }, (_, n) => `user${n}@x${n}.com`)

async function clientOf(reply: FaultReply, change: (platform: ClientPlatform) => ClientPlatform = same => same) {
  const server = await faultServer(reply)
  const fake = loopbackPlatform({ waitsMaxMs: 20_000 })
  return { client: createClient({ url: server.url, key: "k" }, change(fake.platform)), server, ...fake }
}

test("10 000 addresses at a server that fails one request in ten are all checked, in order", async () => {
  let requests = 0
  const { client } = await clientOf((request, response, body) =>
    (++requests % 10 === 0 ? FAULTS["a server error"].reply : answers)(request, response, body),
  )
  const items = addresses(10_000)
  const done: number[] = []
  const outcomes = await client.batch(items, { onProgress: progress => done.push(progress.done) })
  expect(outcomes.map(each => (each.outcome === "checked" ? each.result.email : each.because))).toEqual(items)
  expect(outcomes.map(({ index }) => index)).toEqual(items.map((_, n) => n))
  expect(done.at(-1)).toBe(10_000)
  expect(client.stats()).toMatchObject({ checked: 10_000, unchecked: 0, requests })
  expect(client.stats().retries).toBe(requests - 100)
})

test("a stream is read no further ahead than its requests need", async () => {
  const { client } = await clientOf(answers)
  let read = 0
  async function* stream() {
    for (const item of addresses(5_000)) {
      read++
      yield item
    }
  }
  for await (const { index } of client.batch(stream(), { concurrency: 2 })) {
    expect(read).toBeLessThanOrEqual(index + 301)
    if (index === 999) break
  }
  expect(read).toBeLessThanOrEqual(1300)
})

test("requests hold at most 100 items and 256 KiB, and an item that the API does not take costs the others nothing", async () => {
  const { client, server } = await clientOf(answers)
  const long = `a@${"é".repeat(2000)}.com`
  const items = ["a@b.co", "x".repeat(2049), ...Array.from({ length: 150 }, () => long), "c@d.co"]
  const outcomes = await client.batch(items)
  expect(outcomes.filter(({ outcome }) => outcome === "unchecked")).toMatchObject([
    { index: 1, because: "invalid_subject" },
  ])
  expect(outcomes.map(({ item }) => item)).toEqual(items)
  for (const { body } of server.seen) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(262_144)
  const short = await clientOf(answers)
  await short.client.batch(addresses(201))
  expect(short.server.seen.map(({ body }) => JSON.parse(body).items.length).toSorted()).toEqual([1, 100, 100])
})

test("what is left of the units is used for the first items, and nothing is sent after that", async () => {
  const { client, server } = await clientOf((request, response, body) => {
    const { length } = JSON.parse(body).items
    const more = { needed: length, remaining: 30 }
    const quota = says(429, problemOf(429, "quota_exceeded", more), { "Retry-After": "10984" })
    const reply = length <= 30 && server.seen.length <= 2 ? answers : quota
    reply(request, response, body)
  })
  const outcomes = await client.batch(addresses(250), { concurrency: 1 })
  expect(outcomes.map(({ outcome }) => outcome).lastIndexOf("checked")).toBe(29)
  expect(outcomes.length).toBe(250)
})

for (const fault of ["a revoked key", "a quota of three hours"] as const)
  test(`after ${fault} the other items are not sent`, async () => {
    const { client, server, waits } = await clientOf(FAULTS[fault].reply)
    const outcomes = await client.batch(addresses(1_000), { concurrency: 1 })
    expect([outcomes.length, server.seen.length, waits]).toEqual([1_000, 1, []])
    expect(new Set(outcomes.map(each => each.outcome === "unchecked" && each.because))).toEqual(
      new Set([FAULTS[fault].because]),
    )
  })

test("a server that stays away is given up after five requests, each tried five times", async () => {
  const { client, server, waits } = await clientOf(FAULTS["a server error"].reply)
  const outcomes = await client.batch(addresses(1_000), { concurrency: 1 })
  expect([outcomes.length, client.stats().unchecked, server.seen.length]).toEqual([1_000, 1_000, 25])
  expect(waits.slice(0, 4)).toEqual([500, 1000, 2000, 4000])
})

test("a batch that is aborted gives every item its outcome and sends nothing more", async () => {
  const controller = new AbortController()
  const { client, server } = await clientOf((...said) => {
    answers(...said)
    controller.abort()
  })
  const outcomes = await client.batch(addresses(1_000), { concurrency: 1, signal: controller.signal })
  expect([outcomes.length, server.seen.length]).toEqual([1_000, 1])
})

test("one text in place of a list of them is refused, not read letter by letter", async () => {
  const { client, server } = await clientOf(answers)
  expect(() => client.batch("jane@stripe.com")).toThrow("`items`")
  expect(server.seen).toEqual([])
})

test("no items need no request", async () => {
  const { client, server } = await clientOf(answers)
  expect(await client.batch([])).toEqual([])
  expect(server.seen).toEqual([])
})

test("whoever leaves the loop ends the requests under way, and is told nothing of them", async () => {
  const told: unknown[] = []
  const server = await faultServer(answers, () => undefined)
  const { platform } = loopbackPlatform({ waitsMaxMs: 20_000 })
  let open = 0
  const watched: ClientPlatform = {
    ...platform,
    fetch: (url, init) => {
      open++
      init.signal?.addEventListener("abort", () => open--)
      return platform.fetch(url, init).finally(() => (init.signal?.aborted ? undefined : open--))
    },
  }
  const client = createClient({ url: server.url, key: "k", onUnchecked: each => told.push(each) }, watched)
  for await (const { index } of client.batch(addresses(1_000), { concurrency: 3 })) if (index === 99) break
  await Bun.sleep(0)
  expect([open, told, client.stats().unchecked]).toEqual([0, [], 0])
})
