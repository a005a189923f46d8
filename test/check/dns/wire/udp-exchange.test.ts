import { afterEach, describe, expect, test } from "bun:test"
import type { Random } from "../../../../src/base/outside-world.ts"
import type { DnsQuestion, DnsServerAddress } from "../../../../src/check/dns/dns-types.ts"
import { PORT_LIFE_MS, UdpExchange } from "../../../../src/check/dns/wire/udp-exchange.ts"
import { replyWithin } from "../../../support/dns-exchange.ts"
import { createFakeTime, settled } from "../../../support/time.ts"
import { loopbackPeer, type Peer } from "./loopback-peer.ts"
import { joined, pointer, QUESTION_NAME_AT, type ReplyParts, record, replyBytes, short, TYPES } from "./reply-bytes.ts"

const QUESTION: DnsQuestion = { name: "example.com", type: "A" }
const TIMEOUT_MS = 1000

const open: { close: () => void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

async function peerOpen(address?: string): Promise<Peer> {
  const peer = await loopbackPeer(address)
  open.push(peer)
  return peer
}

function exchangeWith(server: DnsServerAddress, random: Random = counting()) {
  const time = createFakeTime()
  const exchange = new UdpExchange(server, { random, setTimer: time.later })
  open.push(exchange)
  const ask = (question = QUESTION) => replyWithin(exchange, question, TIMEOUT_MS, time.later)
  return { ask, close: () => exchange.close(), time }
}

/** A random source that counts: its pairs of bytes are 0, 1, 2 and so on. */
function counting(): Random {
  let next = 0
  return count => (count === 2 ? short(next++) : new Uint8Array(count))
}

function reply(id: number, lastOctet: number, parts: ReplyParts = {}): Uint8Array {
  const address = record(pointer(QUESTION_NAME_AT), TYPES.A, Uint8Array.of(192, 0, 2, lastOctet))
  return replyBytes({ id, answers: [address], ...parts })
}

const records = (lastOctet: number) => ({
  kind: "answered",
  answer: { outcome: "records", records: [{ type: "A", address: `192.0.2.${lastOctet}` }], ttlS: 300 },
  pendingCname: null,
})

describe("a reply counts", () => {
  test("when it comes from the server with the id and the question", async () => {
    const peer = await peerOpen()
    const { ask, time } = exchangeWith(peer.server)
    const queries = ask()
    const received = await peer.overUdp()
    received.send(reply(received.id, 1))
    expect(await queries).toEqual<unknown>(records(1))
    await time.tick(TIMEOUT_MS)
  })

  test("whatever arrived before it: another id, another question, a query, a fragment", async () => {
    const peer = await peerOpen()
    const queries = exchangeWith(peer.server).ask()
    const received = await peer.overUdp()
    received.send(reply(received.id + 1, 2))
    received.send(reply(received.id, 3, { name: "example.org" }))
    received.send(reply(received.id, 4, { type: "AAAA" }))
    received.send(received.bytes)
    received.send(received.bytes.subarray(0, 1))
    received.send(new Uint8Array(0))
    received.send(reply(received.id, 1))
    expect(await queries).toEqual<unknown>(records(1))
  })

  test("only when it comes from the server's port", async () => {
    const peer = await peerOpen()
    const queries = exchangeWith(peer.server).ask()
    const received = await peer.overUdp()
    received.sendFromElsewhere(reply(received.id, 6))
    received.send(reply(received.id, 1))
    expect(await queries).toEqual<unknown>(records(1))
  })

  test("over IPv6 too", async () => {
    const peer = await peerOpen("::1").catch((noIpv6: unknown) =>
      noIpv6 instanceof Error ? null : Promise.reject(noIpv6),
    )
    if (peer === null) return
    const queries = exchangeWith(peer.server).ask()
    const received = await peer.overUdp()
    received.send(reply(received.id, 1))
    expect(await queries).toEqual<unknown>(records(1))
  })
})

test("a server that responds with an error or a malformed packet failed", async () => {
  const peer = await peerOpen()
  const { ask } = exchangeWith(peer.server)
  for (const parts of [{ flags: 0x8182 }, { flags: 0x8185 }, { answerCount: 2 }]) {
    const queries = ask()
    const received = await peer.overUdp()
    received.send(reply(received.id, 1, parts))
    expect(await queries).toMatchObject({ kind: "failed" })
  }
})

describe("a server is silent", () => {
  test("when there is no reply in time, and not a millisecond earlier", async () => {
    const peer = await peerOpen()
    const { ask, time } = exchangeWith(peer.server)
    let ended = false
    const queries = ask().finally(() => {
      ended = true
    })
    const received = await peer.overUdp()
    await time.tick(TIMEOUT_MS - 1)
    expect(ended).toBe(false)
    await time.tick(1)
    expect(await queries).toEqual({ kind: "silent" })
    expect(time.waiting()).toBe(1)
    await time.tick(PORT_LIFE_MS)
    expect(time.waiting()).toBe(0)
    received.send(reply(received.id, 1))
    const next = ask()
    const again = await peer.overUdp()
    again.send(reply(again.id, 2))
    expect(await next).toEqual<unknown>(records(2))
  })

  test("at once if nothing listens, with what the system says", async () => {
    const { server, close } = await loopbackPeer()
    close()
    const { ask, time } = exchangeWith(server)
    const refused = { kind: "silent", why: "ECONNREFUSED" } as const
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([refused, refused, refused])
    expect(await ask()).toEqual(refused)
    expect(time.waiting()).toBe(0)
  })

  test("at once if the system refuses to send", async () => {
    for (const address of ["255.255.255.255", "not an address"]) {
      expect(await exchangeWith({ address, port: 53 }).ask()).toMatchObject({ kind: "silent" })
    }
    expect(await exchangeWith({ address: "127.0.0.1", port: 0 }).ask()).toMatchObject({ kind: "silent" })
  })

  test("for pending questions when the exchange is closed, and for all later ones", async () => {
    const peer = await peerOpen()
    const { ask, close, time } = exchangeWith(peer.server)
    const [first, second] = [ask(), ask()]
    await peer.overUdp()
    close()
    expect(await Promise.all([first, second, ask()])).toEqual([
      { kind: "silent" },
      { kind: "silent" },
      { kind: "silent" },
    ])
    expect(time.waiting()).toBe(0)
  })
})

test("a name that no packet can hold does not exist, without a query", async () => {
  const peer = await peerOpen()
  const { ask } = exchangeWith(peer.server)
  expect(await ask({ name: `${"a".repeat(64)}.example`, type: "TXT" })).toEqual<unknown>({
    kind: "answered",
    answer: { outcome: "no_name", records: [], ttlS: 0 },
    pendingCname: null,
  })
  const queries = ask()
  const received = await peer.overUdp()
  expect(joined([received.bytes]).subarray(12, 20)).toEqual(Uint8Array.of(7, ...Buffer.from("example")))
  received.send(reply(received.id, 1))
  await queries
})

describe("a truncated reply is repeated over TCP", () => {
  test("and the reply over TCP counts", async () => {
    const peer = await peerOpen()
    const queries = exchangeWith(peer.server).ask()
    const cut = await peer.overUdp()
    cut.send(reply(cut.id, 7, { flags: 0x8380 }))
    const whole = await peer.overTcp()
    const message = reply(whole.id, 1)
    whole.send(joined([short(message.length), message]))
    expect(await queries).toEqual<unknown>(records(1))
    await peer.disconnected()
  })

  test("within the rest of the timeout", async () => {
    const peer = await peerOpen()
    const { ask, time } = exchangeWith(peer.server)
    let ended = false
    const queries = ask().finally(() => {
      ended = true
    })
    const cut = await peer.overUdp()
    await time.tick(400)
    cut.send(reply(cut.id, 7, { flags: 0x8380 }))
    await peer.overTcp()
    await time.tick(599)
    expect(ended).toBe(false)
    await time.tick(1)
    expect(await queries).toEqual({ kind: "silent" })
    await peer.disconnected()
    expect(peer.connectionCount()).toBe(0)
  })

  test("and closing the exchange closes that connection", async () => {
    const peer = await peerOpen()
    const { ask, close, time } = exchangeWith(peer.server)
    const queries = ask()
    const cut = await peer.overUdp()
    cut.send(reply(cut.id, 7, { flags: 0x8380 }))
    await peer.overTcp()
    close()
    expect(await queries).toEqual({ kind: "silent" })
    await peer.disconnected()
    await settled()
    expect(time.waiting()).toBe(0)
  })
})

test("ids come from the random source", async () => {
  const peer = await peerOpen()
  const ids = [0xffff, 0, 0x1234]
  let next = 0
  const { ask } = exchangeWith(peer.server, count => (count === 1 ? new Uint8Array(1) : short(ids[next++] ?? 0)))
  for (const id of ids) {
    const queries = ask()
    const received = await peer.overUdp()
    expect(received.id).toBe(id)
    received.send(reply(received.id, 1))
    await queries
  }
})
