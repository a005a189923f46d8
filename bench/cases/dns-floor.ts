/**
 * How far is a cold check from the least that it could cost? In turn: the floor, the questions alone through the product's resolver, and whole
 * checks; and the most whole checks a second on one core, the server on another.
 */

import { createNetworkService } from "../../src/assemble/check/network.ts"
import { createContext } from "../../src/assemble/context.ts"
import { createCheck } from "../../src/check/check.ts"
import type { DomainLists } from "../../src/check/domain-lookup.ts"
import { LISTS_ALONE } from "../../src/check/lists-alone.ts"
import type { System } from "../../src/system/system.ts"
import { costFigure, costRatioFigure, processorUs } from "../report/processor-time.ts"
import { figure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { dnsServerCommand } from "../servers/dns-server-control.ts"
import { startServer } from "../servers/server-process.ts"
import { allOf, answer, assertWhole, settingsFor } from "./dns.ts"

/** How much the bench does: rounds, and domains of one run. */
export type DnsFloorScale = { readonly rounds: number; readonly names: number }

/** The scale of a figure that may be told. */
export const DNS_FLOOR_FULL: DnsFloorScale = { rounds: 7, names: 10_000 }

const DELAY_MS = 20
const AT_ONCE = 64
/** Enough to keep one core busy while answers are waited for. */
const AT_ONCE_MOST = 256

/** Runs the bench. Rejects when a check against a server that answers is degraded. */
export async function dnsFloorBench(
  { rounds, names }: DnsFloorScale,
  system: System,
  lists: DomainLists,
): Promise<Report> {
  const { command, description } = dnsServerCommand(DELAY_MS)
  await using server = await startServer({ command, core: "server" })
  const floor = await openDnsFloor(server.url)
  let runCount = 0
  const newNames = (): string[] => {
    const run = runCount++
    return Array.from({ length: names }, (_, at) => `suite-harbor${run}-freight${at}.com`)
  }
  const overProduct = async (atOnce: number, isWhole: boolean) => {
    const { networkProbe, queryDns, stop } = createNetworkService(
      createContext(system, settingsFor(server.url, "off")),
      {
        learnedHosts: null,
        matchLists: (domain, registrable) => lists.pack.match(domain, registrable),
      },
    )
    const check = createCheck({ ...system, ...LISTS_ALONE, activeLists: () => lists, networkProbe })
    const ask = async (domain: string): Promise<void> => {
      const found = await Promise.all(
        QUESTIONS.map(({ name, below }) => queryDns?.({ name: below + domain, type: name })),
      )
      if (found.some(finding => finding?.known !== true)) throw new Error("a question was not answered")
    }
    await allOf(newNames(), atOnce, isWhole ? async name => assertWhole(await answer(check, `jane@${name}`)) : ask)
    stop()
  }
  const work = {
    floor: () => allOf(newNames(), AT_ONCE, floor.askAbout),
    questions: () => overProduct(AT_ONCE, false),
    checks: () => overProduct(AT_ONCE, true),
    most: () => overProduct(AT_ONCE_MOST, true),
  }
  const kinds = ["floor", "questions", "checks", "most"] as const
  const measure = async (kind: (typeof kinds)[number]) => {
    const startedAt = performance.now()
    const costUs = (await processorUs(work[kind])) / names
    return { costUs, perSecond: (names * 1000) / (performance.now() - startedAt) }
  }
  // Rounds before the first make the code warm; their times are dropped.
  await interleaved(kinds, Math.ceil(rounds / 2), measure)
  const found = await interleaved(kinds, rounds, measure)
  floor.close()
  const costs = (kind: (typeof kinds)[number]) => found[kind].map(({ costUs }) => costUs)
  return {
    bench: "dns-floor",
    description: [
      `${names} domains a run, ${AT_ONCE} at once, four questions each, a server that answers after ${DELAY_MS} ms`,
      description,
      "floor: packets written by hand over 64 sockets, replies looked at for their id alone; no cache, deadline or limit",
      "questions: the same through the product's resolver; cold: whole checks, text to JSON, without tenants",
      `most checks a second: of ${AT_ONCE_MOST} at once, the fastest round`,
    ],
    figures: [
      costFigure("floor, processor time", "µs/domain", costs("floor")),
      costFigure("questions, processor time", "µs/domain", costs("questions")),
      costFigure("cold, processor time", "µs/check", costs("checks")),
      costRatioFigure("floor ÷ questions", costs("floor"), costs("questions")),
      costRatioFigure("floor ÷ cold", costs("floor"), costs("checks")),
      costFigure(`cold, ${AT_ONCE_MOST} at once, processor time`, "µs/check", costs("most")),
      figure("most checks a second", "/s", Math.max(...found.most.map(({ perSecond }) => perSecond))),
    ],
  }
}

/** The types of a cold check's questions about a domain with mail at a known provider, and what stands before the domain. */
const QUESTIONS = [
  { name: "MX", type: 15, below: "" },
  { name: "TXT", type: 16, below: "" },
  { name: "A", type: 1, below: "" },
  { name: "TXT", type: 16, below: "_dmarc." },
] as const

const IDS = 65_536
const HEADER_BYTES = 12
/** As many as the product has: one socket's buffer holds 277 small packets. */
const SOCKETS = 64
/** What was lost all the same is asked again, a round of this after it was sent at the latest. */
const RESEND_MS = 1000
/** A header with recursion desired, one question and EDNS, and room for a question. */
const PACKET = new Uint8Array(512)
PACKET.set([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1])
const OPT_RECORD = Uint8Array.of(0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0)

/** Writes a query. The bytes are valid until the next call. */
function encode(id: number, type: number, name: string): Uint8Array {
  PACKET[0] = id >> 8
  PACKET[1] = id & 0xff
  let lengthAt = HEADER_BYTES
  let at = HEADER_BYTES + 1
  for (let index = 0; index < name.length; index++, at++) {
    const code = name.charCodeAt(index)
    PACKET[at] = code
    if (code !== 0x2e) continue
    PACKET[lengthAt] = at - lengthAt - 1
    lengthAt = at
  }
  PACKET[lengthAt] = at - lengthAt - 1
  PACKET.set([0, 0, type, 0, 1], at)
  PACKET.set(OPT_RECORD, at + 5)
  return PACKET.subarray(0, at + 5 + OPT_RECORD.length)
}

/** A domain whose questions are pending, and how many are. */
type Asked = { readonly domain: string; readonly resolve: () => void; left: number }

/** The least that this runtime spends on four questions: asks a DNS server about domains, and gives a function that ends when all its questions about a domain are answered. */
async function openDnsFloor({ hostname, port }: URL) {
  const pending = new Map<number, Asked>()
  const data = (_: unknown, packet: Uint8Array): void => {
    const id = ((packet[0] ?? 0) << 8) | (packet[1] ?? 0)
    const asked = pending.get(id)
    pending.delete(id)
    if (asked !== undefined && --asked.left === 0) asked.resolve()
  }
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, () =>
      Bun.udpSocket({ connect: { hostname, port: Number(port) }, binaryType: "uint8array", socket: { data } }),
    ),
  )
  const send = (id: number, domain: string): void => {
    const { type, below } = QUESTIONS[id % QUESTIONS.length] ?? QUESTIONS[0]
    sockets[(id >> 2) % SOCKETS]?.send(encode(id, type, below + domain))
  }
  const timer = setInterval(() => {
    for (const [id, { domain }] of pending) send(id, domain)
  }, RESEND_MS)
  let next = 0
  return {
    askAbout: (domain: string): Promise<void> =>
      new Promise(resolve => {
        const asked: Asked = { domain, resolve, left: QUESTIONS.length }
        for (const _ of QUESTIONS) {
          pending.set(next, asked)
          send(next, domain)
          next = (next + 1) % IDS
        }
      }),
    close: () => {
      clearInterval(timer)
      for (const socket of sockets) socket.close()
    },
  }
}
