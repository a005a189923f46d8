import { afterEach, expect, spyOn, test } from "bun:test"
import type { Random } from "../../../../src/base/outside-world.ts"
import type { DnsQuestion } from "../../../../src/check/dns/dns-types.ts"
import {
  PORT_LIFE_MS,
  PORT_QUERIES_MAX,
  PORT_RUN,
  PORTS_MAX,
  UdpExchange,
} from "../../../../src/check/dns/wire/udp-exchange.ts"
import { receivedQuery } from "../../../support/dns-exchange.ts"
import { createFakeTime } from "../../../support/time.ts"
import { type Heard, loopbackPeer, type Peer } from "./loopback-peer.ts"
import { replyBytes } from "./reply-bytes.ts"

const QUESTION: DnsQuestion = { name: "example.com", type: "A" }
const open: { close: () => void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

const poolOf = ({ server }: Peer, random: Random, { later: setTimer } = createFakeTime()) =>
  new UdpExchange(server, { random, setTimer })

/** A pool whose random source gives only zeros, so that its ids and its choice of ports are known. */
async function poolAndPeer() {
  const peer = await loopbackPeer()
  const time = createFakeTime()
  const pool = poolOf(peer, count => new Uint8Array(count), time)
  open.push(pool, peer)
  return { peer, pool, time }
}

/** Sends a question and returns its reply. */
function request(pool: UdpExchange): Promise<unknown> {
  return new Promise(resolve => pool.send(receivedQuery(QUESTION, resolve)))
}

async function taken(peer: Peer, count: number): Promise<Heard[]> {
  const reply: Heard[] = []
  while (reply.length < count) reply.push(await peer.overUdp())
  return reply
}

test("every question has a new source port until the greatest number is open, then one of them", async () => {
  const { peer, pool } = await poolAndPeer()
  const all = Array.from({ length: PORTS_MAX + 1 }, () => request(pool))
  const reply = await taken(peer, PORTS_MAX + 1)
  expect(new Set(reply.map(one => one.port)).size).toBe(PORTS_MAX)
  expect(pool.size).toBe(PORTS_MAX)
  const ids = reply.filter(one => one.port === portOfTwo(reply)).map(one => one.id)
  expect(ids.toSorted()).toEqual([0, 1])
  for (const one of reply) one.send(replyBytes({ id: one.id }))
  await Promise.all(all)
})

test("while the greatest number is open, questions in a row share a port, and a random one is picked for the next row", async () => {
  const peer = await loopbackPeer()
  let nextPort = 0
  let nextId = 0
  const random = (count: number) => (count === 1 ? Uint8Array.of(nextPort++) : Uint8Array.of(0, nextId++))
  const pool = poolOf(peer, random)
  open.push(pool, peer)
  const first = Array.from({ length: PORTS_MAX }, () => request(pool))
  const openPorts = new Set((await taken(peer, PORTS_MAX)).map(one => one.port))
  const second = Array.from({ length: 3 * PORT_RUN }, () => request(pool))
  const inRows = await taken(peer, 3 * PORT_RUN)
  const counts = [...Map.groupBy(inRows, one => one.port).values()].map(row => row.length)
  expect(counts).toEqual([PORT_RUN, PORT_RUN, PORT_RUN])
  expect(inRows.filter(one => !openPorts.has(one.port))).toEqual([])
  expect(nextPort).toBe(3)
  expect(nextId).toBe(PORTS_MAX + 3 * PORT_RUN)
  pool.close()
  await Promise.all([...first, ...second])
})

test("a port with its greatest number of questions takes no more, and is closed after the last reply", async () => {
  const { peer, pool } = await poolAndPeer()
  const all = Array.from({ length: PORTS_MAX - 1 + PORT_QUERIES_MAX }, () => request(pool))
  const reply = await taken(peer, all.length)
  const ids = reply.filter(one => one.port === portOfTwo(reply)).map(one => one.id)
  expect(ids).toHaveLength(PORT_QUERIES_MAX)
  expect(new Set(ids).size).toBe(PORT_QUERIES_MAX)
  expect(pool.size).toBe(PORTS_MAX)
  const next = request(pool)
  const [fresh] = await taken(peer, 1)
  expect(reply.map(one => one.port)).not.toContain(fresh?.port)
  expect(pool.size).toBe(PORTS_MAX + 1)
  for (const one of [...reply, ...(fresh === undefined ? [] : [fresh])]) one.send(replyBytes({ id: one.id }))
  await Promise.all([...all, next])
  expect(pool.size).toBe(PORTS_MAX)
})

test("a port takes no more questions after a while, and is closed when none is pending", async () => {
  const { peer, pool, time } = await poolAndPeer()
  const first = request(pool)
  const waiting = request(pool)
  const [one, other] = await taken(peer, 2)
  one?.send(replyBytes({ id: one.id }))
  await Promise.race([first, waiting])
  await time.tick(PORT_LIFE_MS - 1)
  expect(pool.size).toBe(2)
  await time.tick(1)
  expect(pool.size).toBe(1)
  await time.tick(10 * PORT_LIFE_MS)
  expect(pool.size).toBe(1)
  const next = request(pool)
  const [fresh] = await taken(peer, 1)
  expect([one?.port, other?.port]).not.toContain(fresh?.port)
  for (const late of [other, fresh]) late?.send(replyBytes({ id: late.id }))
  await Promise.all([first, waiting, next])
  expect(pool.size).toBe(1)
  await time.tick(PORT_LIFE_MS)
  expect(pool.size).toBe(0)
  expect(time.waiting()).toBe(0)
})

test("a port that is used is open for no longer than one that is not", async () => {
  const { peer, pool, time } = await poolAndPeer()
  const first = Array.from({ length: PORTS_MAX }, () => request(pool))
  for (const one of await taken(peer, PORTS_MAX)) one.send(replyBytes({ id: one.id }))
  await Promise.all(first)
  await time.tick(PORT_LIFE_MS - 1)
  const again = request(pool)
  const [one] = await taken(peer, 1)
  await time.tick(1)
  expect(pool.size).toBe(1)
  one?.send(replyBytes({ id: one.id }))
  await again
  expect(pool.size).toBe(0)
})

test("questions in a row are sent by one call, also if they are fewer than a row", async () => {
  const { peer, pool } = await poolAndPeer()
  const first = Array.from({ length: PORTS_MAX }, () => request(pool))
  for (const one of await taken(peer, PORTS_MAX)) one.send(replyBytes({ id: one.id }))
  await Promise.all(first)
  const socket = await Bun.udpSocket({})
  open.push(socket)
  using sent = spyOn(Object.getPrototypeOf(socket), "sendMany")
  const rows = Array.from({ length: PORT_RUN + 1 }, () => request(pool))
  for (const one of await taken(peer, PORT_RUN + 1)) one.send(replyBytes({ id: one.id }))
  await Promise.all(rows)
  expect(sent.mock.results.map(({ value }) => value)).toEqual([PORT_RUN, 1])
})

test("questions that are asked together are not divided between two ports by those that were sent before", async () => {
  const peer = await loopbackPeer()
  let nextPort = 0
  const pool = poolOf(peer, count => new Uint8Array(count).fill(count === 1 ? nextPort++ : 0))
  open.push(pool, peer)
  const first = Array.from({ length: PORTS_MAX + 1 }, () => request(pool))
  for (const one of await taken(peer, PORTS_MAX + 1)) one.send(replyBytes({ id: one.id }))
  await Promise.all(first)
  const row = Array.from({ length: PORT_RUN }, () => request(pool))
  const heard = await taken(peer, PORT_RUN)
  expect(new Set(heard.map(one => one.port)).size).toBe(1)
  for (const one of heard) one.send(replyBytes({ id: one.id }))
  await Promise.all(row)
})

test("a question that is cancelled no longer keeps its port open", async () => {
  const { peer, pool, time } = await poolAndPeer()
  const query = receivedQuery(QUESTION, () => expect.unreachable())
  pool.send(query)
  const [one] = await taken(peer, 1)
  query.carrier?.cancel(query)
  query.carrier?.cancel(query)
  one?.send(replyBytes({ id: one.id }))
  await time.tick(PORT_LIFE_MS)
  expect(pool.size).toBe(0)
  expect(time.waiting()).toBe(0)
})

test("closing closes every port, also one that is still being opened", async () => {
  const { pool, time } = await poolAndPeer()
  const all = [request(pool), request(pool)]
  pool.close()
  expect(await Promise.all(all)).toEqual([{ kind: "silent" }, { kind: "silent" }])
  expect(pool.size).toBe(0)
  expect(time.waiting()).toBe(0)
})

/** The source port of more than one question. */
function portOfTwo(reply: readonly Heard[]): number | undefined {
  return reply.find((one, at) => reply.findIndex(other => other.port === one.port) !== at)?.port
}
