import { afterEach, expect, spyOn, test } from "bun:test"
import type { Random } from "../../../../src/base/outside-world.ts"
import { createRandomUint16s } from "../../../../src/base/random-numbers.ts"
import type { DnsQuestion, DnsServerAddress } from "../../../../src/check/dns/dns-types.ts"
import { SourcePort } from "../../../../src/check/dns/wire/source-port.ts"
import { receivedQuery } from "../../../support/dns-exchange.ts"
import { settled } from "../../../support/time.ts"
import { loopbackPeer } from "./loopback-peer.ts"
import { replyBytes, short } from "./reply-bytes.ts"

const QUESTION: DnsQuestion = { name: "example.com", type: "A" }
const open: { close: () => void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** A random source that counts from five. */
function counting(): Random {
  let next = 5
  return () => short(next++)
}

const portTo = (server: DnsServerAddress, random = counting(), onClose: () => void = () => undefined) =>
  new SourcePort(server, { randomId: createRandomUint16s(random), onClose, onTruncated: () => expect.unreachable() })

async function portAndPeer(random: Random = counting()) {
  const peer = await loopbackPeer()
  let closedCount = 0
  const port = portTo(peer.server, random, () => {
    closedCount++
  })
  open.push(port, peer)
  return { peer, port, closedCount: () => closedCount }
}

function request(port: SourcePort): Promise<unknown> {
  return new Promise(resolve => port.send(receivedQuery(QUESTION, resolve)))
}

test("the id of a pending question is not used again, whatever the random source gives", async () => {
  const { peer, port } = await portAndPeer(() => short(0xfffe))
  const all = [request(port), request(port), request(port)]
  const reply = [await peer.overUdp(), await peer.overUdp(), await peer.overUdp()]
  expect(reply.map(one => one.id).toSorted((a, b) => a - b)).toEqual([0, 0xfffe, 0xffff])
  for (const one of reply) one.send(replyBytes({ id: one.id }))
  await Promise.all(all)
  expect(port.queryCount).toBe(3)
})

test("a late reply is dropped, and later questions get their replies", async () => {
  const { peer, port } = await portAndPeer()
  const query = receivedQuery(QUESTION, () => expect.unreachable())
  port.send(query)
  const late = await peer.overUdp()
  query.carrier?.cancel(query)
  late.send(replyBytes({ id: late.id }))
  const next = request(port)
  const reply = await peer.overUdp()
  reply.send(replyBytes({ id: reply.id, flags: 0x8182 }))
  expect(await next).toMatchObject({ kind: "failed" })
})

test("a second reply to one question is dropped", async () => {
  const { peer, port } = await portAndPeer()
  const first = request(port)
  const reply = await peer.overUdp()
  reply.send(replyBytes({ id: reply.id, flags: 0x8182 }))
  reply.send(replyBytes({ id: reply.id }))
  expect(await first).toMatchObject({ kind: "failed" })
  const next = request(port)
  const again = await peer.overUdp()
  again.send(replyBytes({ id: again.id }))
  expect(await next).toMatchObject({ kind: "answered" })
})

test("cancelling a question does not affect a later one with its id", async () => {
  const { peer, port } = await portAndPeer(() => short(5))
  const isReceived = Promise.withResolvers()
  const query = receivedQuery(QUESTION, isReceived.resolve)
  port.send(query)
  const first = await peer.overUdp()
  first.send(replyBytes({ id: first.id }))
  await isReceived.promise
  const next = request(port)
  const second = await peer.overUdp()
  expect(second.id).toBe(first.id)
  query.carrier?.cancel(query)
  second.send(replyBytes({ id: second.id, flags: 0x8182 }))
  expect(await next).toMatchObject({ kind: "failed" })
})

test("all pending questions are silent at once if nothing listens any more", async () => {
  const { peer, port, closedCount } = await portAndPeer()
  const first = request(port)
  await peer.overUdp()
  peer.close()
  const second = request(port)
  const refused = { kind: "silent", why: "ECONNREFUSED" } as const
  expect(await Promise.all([first, second])).toEqual([refused, refused])
  port.close()
  expect(closedCount()).toBe(1)
})

test("a port that is closed while it opens does not stay open", async () => {
  using opened = spyOn(Bun, "udpSocket")
  const port = portTo({ address: "127.0.0.1", port: 9 })
  const first = request(port)
  port.close()
  expect(await first).toEqual({ kind: "silent" })
  const socket: unknown = await opened.mock.results[0]?.value
  await settled()
  expect(socket).toHaveProperty("closed", true)
})

test("a packet that cannot be sent is silence: for its question if the buffer is full, for all if nothing listens", async () => {
  const peer = await loopbackPeer()
  open.push(peer)
  const socket = await Bun.udpSocket({ connect: { hostname: peer.server.address, port: peer.server.port } })
  open.push(socket)
  using _opened = spyOn(Bun, "udpSocket").mockResolvedValue(socket)
  using sent = spyOn(socket, "sendMany").mockReturnValue(1)
  const port = portTo(peer.server)
  let isFirstPending = true
  const first = request(port).finally(() => {
    isFirstPending = false
  })
  expect(await request(port)).toEqual({ kind: "silent" })
  expect(isFirstPending).toBe(true)
  sent.mockImplementationOnce(() => {
    throw Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" })
  })
  expect(await request(port)).toEqual({ kind: "silent", why: "ECONNREFUSED" })
  expect(await first).toEqual({ kind: "silent", why: "ECONNREFUSED" })
  expect(socket.closed).toBe(true)
})

test("the questions of a port that cannot be opened are silent, after other events were handled", async () => {
  using _opened = spyOn(Bun, "udpSocket").mockRejectedValue(new Error("no descriptor is free"))
  const order: unknown[] = []
  setImmediate(() => void order.push("another event"))
  const port = portTo({ address: "127.0.0.1", port: 9 })
  const replies = [request(port), request(port)].map(reply => reply.then(each => void order.push(each)))
  await Promise.all(replies)
  expect(order).toMatchObject(["another event", { kind: "silent" }, { kind: "silent" }])
})
