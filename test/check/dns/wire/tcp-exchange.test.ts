import { afterEach, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import type { DnsQuestion } from "../../../../src/check/dns/dns-types.ts"
import { createTcpExchange, frameMessage } from "../../../../src/check/dns/wire/tcp-exchange.ts"
import { replyWithin } from "../../../support/dns-exchange.ts"
import { createFakeTime } from "../../../support/time.ts"
import { loopbackPeer, type Peer } from "./loopback-peer.ts"
import { joined, pointer, QUESTION_NAME_AT, record, replyBytes, short, TYPES, txtContent } from "./reply-bytes.ts"

const QUESTION: DnsQuestion = { name: "example.com", type: "TXT" }
const TIMEOUT_MS = 1000

const open: { close: () => void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

function exchangeWith(server: Peer["server"]) {
  const time = createFakeTime()
  const exchange = createTcpExchange(server, () => short(0x1234))
  open.push(exchange)
  const ask = (question = QUESTION) => replyWithin(exchange, question, TIMEOUT_MS, time.later)
  return { ask, close: exchange.close, time }
}

async function exchangeAndPeer() {
  const peer = await loopbackPeer()
  open.push(peer)
  return { peer, ...exchangeWith(peer.server) }
}

function texts(id: number, ...strings: readonly Uint8Array[]): Uint8Array {
  const answers = [record(pointer(QUESTION_NAME_AT), TYPES.TXT, txtContent(...strings))]
  return replyBytes({ id, type: "TXT", answers })
}

const answered = (text: string) => ({
  kind: "answered",
  answer: { outcome: "records", records: [{ type: "TXT", text }] },
})

/** How many descriptors this process has open. */
const socketCount = (): number => readdirSync("/proc/self/fd").length

/** A process that listens and never takes a connection. */
async function busyListener() {
  const script = `const server = require("node:net").createServer()
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      require("node:fs").writeSync(1, String(server.address().port))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`
  const listener = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" })
  const { value } = await listener.stdout.getReader().read()
  const server = { address: "127.0.0.1", port: Number(new TextDecoder().decode(value)) }
  const stop = async (): Promise<void> => {
    listener.kill("SIGKILL")
    await listener.exited
  }
  return { server, [Symbol.asyncDispose]: stop }
}

describe("a reply", () => {
  test("is assembled from any number of chunks", async () => {
    const { peer, ask, time } = await exchangeAndPeer()
    const queries = ask()
    const received = await peer.overTcp()
    expect(received.id).toBe(0x1234)
    for (const octet of frameMessage(texts(received.id, Buffer.from("v=spf1")))) {
      received.send(Uint8Array.of(octet))
      await new Promise(setImmediate)
    }
    expect(await queries).toMatchObject(answered("v=spf1"))
    await peer.disconnected()
    expect(time.waiting()).toBe(0)
  })

  test("of 60 kB is read completely", async () => {
    const { peer, ask } = await exchangeAndPeer()
    const queries = ask()
    const received = await peer.overTcp()
    const strings = Array.from({ length: 240 }, () => new Uint8Array(250).fill(0x61))
    received.send(frameMessage(texts(received.id, ...strings)))
    expect(await queries).toMatchObject(answered("a".repeat(60_000)))
  })

  test("ends the connection, whatever follows it", async () => {
    const { peer, ask } = await exchangeAndPeer()
    const queries = ask()
    const received = await peer.overTcp()
    received.send(
      joined([frameMessage(texts(received.id, Buffer.from("a"))), frameMessage(texts(received.id, Buffer.from("b")))]),
    )
    expect(await queries).toMatchObject(answered("a"))
    await peer.disconnected()
  })

  test("to another question, truncated, empty or malformed is a failure", async () => {
    const { peer, ask } = await exchangeAndPeer()
    const replies = [
      replyBytes({ id: 1, type: "TXT" }),
      replyBytes({ id: 0x1234, type: "A" }),
      replyBytes({ id: 0x1234, type: "TXT", flags: 0x8380 }),
      replyBytes({ id: 0x1234, type: "TXT", flags: 0x8182 }),
      replyBytes({ id: 0x1234, type: "TXT", answerCount: 1 }),
      new Uint8Array(0),
    ]
    for (const reply of replies) {
      const queries = ask()
      const received = await peer.overTcp()
      received.send(frameMessage(reply))
      expect(await queries).toMatchObject({ kind: "failed" })
      await peer.disconnected()
    }
  })
})

describe("a server is silent", () => {
  test("when it refuses the connection, with that", async () => {
    const { server, close } = await loopbackPeer()
    close()
    const { ask, time } = exchangeWith(server)
    expect(await ask()).toEqual({ kind: "silent", why: "ECONNREFUSED" })
    expect(time.waiting()).toBe(0)
  })

  test("when the address cannot be reached", async () => {
    for (const server of [
      { address: "127.0.0.1", port: 0 },
      { address: "127.0.0.1", port: 65_536 },
    ]) {
      expect(await exchangeWith(server).ask()).toMatchObject({ kind: "silent" })
    }
  })

  test("when it closes the connection before the reply is complete", async () => {
    const { peer, ask } = await exchangeAndPeer()
    const frame = frameMessage(texts(0x1234, Buffer.from("v=spf1")))
    for (const length of [0, 1, 2, frame.length - 1]) {
      const queries = ask()
      const received = await peer.overTcp()
      if (length > 0) received.send(frame.subarray(0, length))
      received.hangUp()
      expect(await queries).toEqual({ kind: "silent" })
      await peer.disconnected()
    }
  })

  test("when the reply is not complete in time, and not a millisecond earlier", async () => {
    const { peer, ask, time } = await exchangeAndPeer()
    let ended = false
    const queries = ask().finally(() => {
      ended = true
    })
    const received = await peer.overTcp()
    received.send(Uint8Array.of(0))
    await time.tick(TIMEOUT_MS - 1)
    expect(ended).toBe(false)
    await time.tick(1)
    expect(await queries).toEqual({ kind: "silent" })
    await peer.disconnected()
  })

  test("when the timeout ends before the connection is open, which is then closed", async () => {
    const { peer, ask, time } = await exchangeAndPeer()
    const queries = ask()
    await time.tick(TIMEOUT_MS)
    expect(await queries).toEqual({ kind: "silent" })
    await peer.disconnected()
  })

  test("when it takes no connection, and none is left that is still being opened", async () => {
    await using busy = await busyListener()
    const { ask, time } = exchangeWith(busy.server)
    const before = socketCount()
    // A listener keeps 512 open connections that it did not take.
    const replies = Array.from({ length: 600 }, () => ask())
    for (let turn = 0; turn < 100 && socketCount() < before + 600; turn++) await Bun.sleep(1)
    expect(socketCount()).toBeGreaterThanOrEqual(before + 600)
    await time.tick(TIMEOUT_MS)
    expect(new Set((await Promise.all(replies)).map(({ kind }) => kind))).toEqual(new Set(["silent"]))
    for (let turn = 0; turn < 100 && socketCount() > before; turn++) await Bun.sleep(1)
    expect(socketCount()).toBe(before)
  })

  test("for pending questions when the exchange is closed", async () => {
    const { peer, ask, close, time } = await exchangeAndPeer()
    const queries = ask()
    await peer.overTcp()
    close()
    expect(await queries).toEqual({ kind: "silent" })
    await peer.disconnected()
    expect(time.waiting()).toBe(0)
  })
})
