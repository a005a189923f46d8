import { Value } from "@sinclair/typebox/value"
import type { DnsRecordType } from "../../src/check/dns/dns-types.ts"
import { CheckResult } from "../../src/contract/result-schema.ts"
import { TYPES } from "../check/dns/wire/reply-bytes.ts"
import { freePort } from "../support/free-port.ts"
import { TestServer } from "../support/test-server.ts"
import { Dice } from "./dice.ts"
import { wrongInLog } from "./judge.ts"
import { LAG_LOOK_MS, readLagMs } from "./run.ts"
import { UNLIKE, zoneCheck, zoneReply } from "./zones.ts"

/** What a run over made-up zones found. */
export type ZoneReport = {
  readonly zones: number
  readonly elapsedS: number
  /** How many DNS questions the server has asked. */
  readonly questions: number
  /** How often each status came. */
  readonly answers: Readonly<Record<string, number>>
  readonly degraded: number
  readonly wrong: readonly string[]
  readonly inLog: readonly string[]
  /** The greatest delay of the server's event loop within each second, in milliseconds. */
  readonly lagsMs: readonly number[]
  readonly exitCode: number
}

const WRONG_MAX = 20
const TYPE_NAMES = new Map<number, DnsRecordType>(
  (["A", "AAAA", "CNAME", "MX", "NS", "SRV", "TXT"] as const).map(type => [TYPES[type], type]),
)

/** Answers as the made-up world does, over UDP. A question that is about no zone, such as those that probe the servers, has no data. */
async function zoneServer(seed: number) {
  let questions = 0
  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    binaryType: "uint8array",
    socket: {
      data: (own, bytes, port, address) => {
        questions++
        const { id, name, type } = readQuestion(bytes)
        const reply = type === null ? null : zoneReply(seed, id, name, type)
        if (reply !== null) own.send(reply, port, address)
      },
    },
  })
  return { port: socket.port, questions: () => questions, stop: () => socket.close() }
}

/** The question of a query of ours, which has no pointers. */
function readQuestion(bytes: Uint8Array): { id: number; name: string; type: DnsRecordType | null } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const labels: string[] = []
  let at = 12
  for (let length = view.getUint8(at++); length > 0; length = view.getUint8(at++)) {
    labels.push(String.fromCharCode(...bytes.subarray(at, at + length)))
    at += length
  }
  return { id: view.getUint16(0), name: labels.join("."), type: TYPE_NAMES.get(view.getUint16(at)) ?? null }
}

/** Starts a server, has it check so many domains of the made-up world, each twice, and stops it. `told` hears how far it is. */
export async function fuzzZones(
  { zones, seed, connections }: { readonly zones: number; readonly seed: number; readonly connections: number },
  told: (done: number) => void = () => undefined,
): Promise<ZoneReport> {
  const dns = await zoneServer(seed)
  const metricsPort = freePort()
  await using server = new TestServer({
    settings: {
      MAILKIND_DNS_SERVERS: `127.0.0.1:${dns.port}`,
      MAILKIND_DNS_CANARIES: "off",
      MAILKIND_OUTSIDE: "off",
      MAILKIND_TIERS: "0=-/-/-",
      MAILKIND_METRICS: `127.0.0.1:${metricsPort}`,
    },
  })
  await server.start()
  const run = new ZoneRun(server, seed)
  const lagsMs: number[] = []
  const looking = setInterval(async () => lagsMs.push(await readLagMs(metricsPort)), LAG_LOOK_MS)
  const startedAt = performance.now()
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < zones && run.wrong.length < WRONG_MAX) {
      const number = next++
      if (number % 1000 === 0) told(number)
      await run.check(number)
    }
  }
  await Promise.all(Array.from({ length: connections }, lane)).finally(() => clearInterval(looking))
  const elapsedS = (performance.now() - startedAt) / 1000
  const exitCode = await server.stop()
  dns.stop()
  const { answers, degraded, wrong } = run
  const inLog = wrongInLog(server.log).slice(0, WRONG_MAX)
  return { zones, elapsedS, questions: dns.questions(), answers, degraded, wrong, inLog, lagsMs, exitCode }
}

class ZoneRun {
  readonly answers: Record<string, number> = {}
  readonly wrong: string[] = []
  degraded = 0
  readonly #server: TestServer
  readonly #seed: number

  constructor(server: TestServer, seed: number) {
    this.#server = server
    this.#seed = seed
  }

  /** Checks one zone twice. Where DNS gave no answer in time, the second one may know more. */
  async check(number: number): Promise<void> {
    const body = JSON.stringify(zoneCheck(new Dice(this.#seed, number), number))
    const [first, again] = [await this.#ask(body), await this.#ask(body)]
    if (first === null || again === null) return
    if (first.degraded) this.degraded++
    const isWhole = !first.degraded && !again.degraded && first.took_ms < WHOLE_MS_MAX
    if (isWhole && !Bun.deepEquals({ ...first, ...UNLIKE }, { ...again, ...UNLIKE }))
      this.wrong.push(`${body}: ${JSON.stringify(first)} and then ${JSON.stringify(again)}`)
  }

  async #ask(body: string): Promise<CheckResult | null> {
    const headers = { "Content-Type": "application/json" }
    const answer = await this.#server.ask("POST /v1/check", { key: this.#server.firstKey, headers, body })
    const { status } = answer
    this.answers[status] = (this.answers[status] ?? 0) + 1
    const result: unknown = JSON.parse(answer.body)
    if (status === 200 && Value.Check(CheckResult, result)) return result
    this.wrong.push(`${body}: ${status} ${JSON.stringify(result)}`)
    return null
  }
}

/** Mail hosts are waited for for a second. */
const WHOLE_MS_MAX = 900
