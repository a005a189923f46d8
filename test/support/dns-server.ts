import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type Question,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
} from "dns-packet"
import { type Fault, type Faults, faultOf, messagesUnder, type Place, toldUnder, truncated } from "./dns-faults.ts"
import { boundSockets, type Listener, type Way } from "./dns-sockets.ts"
import { plainName, type ServedRecords, type Told, type ZoneTimes, zoneOf } from "./dns-zone.ts"

/** One question as it reached the server. */
export type Heard = {
  /** As it was written, without a trailing dot. */
  readonly name: string
  readonly type: string
  readonly id: number
  /** The asker's port. */
  readonly port: number
  readonly way: Way
  /** What EDNS says that an answer over UDP may have, in octets; null without EDNS. */
  readonly ednsSize: number | null
  /** The OPT record's flags: DO is 0x8000. */
  readonly ednsFlags: number
  /** It asks for recursion (RD). */
  readonly isRecursive: boolean
}

/** A DNS server on loopback, over UDP and TCP on one port. Disposing of it stops it. */
export type DnsServer = Disposable & {
  readonly address: string
  readonly port: number
  /** All questions so far, in the order in which they came. */
  readonly heard: readonly Heard[]
  /** The same as `TYPE name`, names in lower case. */
  readonly sendRequest: () => readonly string[]
  /** Waits until `count` questions came since the start. */
  readonly hasHeard: (count: number) => Promise<void>
  /** Puts another zone in place of the present one. */
  readonly serve: (records: ServedRecords) => void
  /** From now on it goes wrong like this there; null: it is well again. */
  readonly fault: (place: Place, faults: Faults | null) => void
  /** Sends the answers that the fault `held` has held back, and gives their count. */
  readonly release: () => number
  /** Dies: its sockets are closed, and nobody hears what is sent there. */
  readonly pause: () => Promise<void>
  /** Comes back on the same port. */
  readonly resume: () => Promise<void>
  readonly stop: () => void
}

/** What a server has beside its zone. */
export type DnsServerOptions = Partial<ZoneTimes> & {
  /** The loopback address: 127.0.0.1, if it is not named. */
  readonly address?: string
}

const TIMES: ZoneTimes = { ttlS: 300, soaTtlS: 300, soaMinimumS: 60 }
const UDP_OCTETS_MIN = 512
const TCP_OCTETS_MAX = 0xffff
const OPT: Answer = {
  type: "OPT",
  name: ".",
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
}

/** Starts a server that knows these records. */
export async function dnsServer(records: ServedRecords, options: DnsServerOptions = {}): Promise<DnsServer> {
  const address = options.address ?? "127.0.0.1"
  const times = { ...TIMES, ...options }
  const faults = new Map<Place, Faults>()
  const received: Heard[] = []
  const waits = new Set<() => void>()
  const held: (() => void)[] = []
  let telling = zoneOf(records, times)
  const listener: Listener = (query, way, asker, send) => {
    const packet = readable(query)
    const question = packet?.questions?.[0]
    if (packet === null || question === undefined) return
    received.push(heardIn(packet, question, way, asker))
    for (const look of waits) look()
    const fault = faultOf(faults, question, way)
    const messages = written(packet, question, telling(question), way, fault)
    const go = (): void => {
      for (const message of messages) send(message, fault)
    }
    if (fault === "held") held.push(go)
    else go()
  }
  let sockets = await boundSockets(address, 0, listener)
  const { port } = sockets
  const stop = (): void => void sockets.close()
  return {
    address,
    port,
    heard: received,
    sendRequest: () => received.map(({ type, name }) => `${type} ${plainName(name)}`),
    hasHeard: count => reached(waits, () => received.length >= count),
    serve: next => {
      telling = zoneOf(next, times)
    },
    fault: (place, what) => void (what === null ? faults.delete(place) : faults.set(place, what)),
    release: () => {
      const going = held.splice(0)
      for (const go of going) go()
      return going.length
    },
    pause: () => sockets.close(),
    resume: async () => {
      sockets = await boundSockets(address, port, listener)
    },
    stop,
    [Symbol.dispose]: stop,
  }
}

/** Resolves once `isSo`, which each of `waits` looks at again. */
function reached(waits: Set<() => void>, isSo: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = (): void => {
    if (!isSo()) return
    waits.delete(look)
    resolve()
  }
  waits.add(look)
  look()
  return promise
}

/** The query, or null for octets that are none. */
function readable(query: Buffer): DecodedPacket | null {
  try {
    const packet = decode(query)
    return packet.type === "query" ? packet : null
  } catch (fault) {
    if (fault instanceof Error) return null
    throw fault
  }
}

function heardIn(packet: DecodedPacket, { name, type }: Question, way: Way, port: number): Heard {
  const edns = packet.additionals?.find(one => one.type === "OPT")
  return {
    name: name === "." ? "" : name,
    type,
    id: packet.id ?? 0,
    port,
    way,
    ednsSize: edns?.udpPayloadSize ?? null,
    ednsFlags: edns?.flags ?? 0,
    isRecursive: packet.flag_rd,
  }
}

/** The messages that answer a question: the zone's answer, with what the fault makes of it. */
function written(
  packet: DecodedPacket,
  question: Question,
  facts: Told,
  way: Way,
  fault: Fault | undefined,
): readonly Buffer[] {
  const edns = packet.additionals?.find(one => one.type === "OPT")
  const whole = messageOf(packet, question, toldUnder(fault, facts, question), edns !== undefined)
  const octetsMax = way === "tcp" ? TCP_OCTETS_MAX : Math.max(UDP_OCTETS_MIN, edns?.udpPayloadSize ?? 0)
  return messagesUnder(fault, whole.length > octetsMax ? truncated(whole) : whole)
}

function messageOf(packet: DecodedPacket, question: Question, facts: Told, hasEdns: boolean): Buffer {
  return encode({
    type: "response",
    id: packet.id,
    // It answers as a recursor does, and gives back what was asked of it.
    flags: RECURSION_AVAILABLE | ((packet.flags ?? 0) & RECURSION_DESIRED) | facts.code,
    questions: [question],
    answers: [...facts.answers],
    authorities: [...facts.authorities],
    additionals: [...facts.additionals, ...(hasEdns ? [OPT] : [])],
  })
}
