import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import type {
  DnsQuestion,
  DnsRecord,
  DnsRecordType,
  DnsServerAddress,
  ServerReply,
} from "../../src/check/dns/dns-types.ts"
import { parseReply } from "../../src/check/dns/wire/packet.ts"
import { UdpExchange } from "../../src/check/dns/wire/udp-exchange.ts"
import { answerOf, query, udpAsker } from "../support/dns-asker.ts"
import { replyWithin } from "../support/dns-exchange.ts"
import { createFakeTime } from "../support/time.ts"
import { type ChildServer, programAt, startChild } from "./child-server.ts"
import { NSD_PROGRAMS, type Nsd, type NsdZone, startNsd } from "./nsd.ts"

const TEXT = "x".repeat(250)

/** So many texts of 250 octets, each a record of its own. */
const texts = (count: number): string =>
  Array.from({ length: count }, (_, at) => `IN TXT "${at}" "${TEXT}"`).join("\n  ")

/** The SOA's TTL is longer than its minimum: what is not there holds for a minute. */
const PLAIN = `
@ 900 IN SOA ns hostmaster 1 3600 600 86400 60
$TTL 300
@ IN NS ns
  IN NS NS.Other.test.
  IN MX 10 Mail.PLAIN.test.
  IN MX 20 backup.other.test.
  IN TXT "v=spf1 include:_spf.plain.test " "-all"
ns IN A 192.0.2.1
mail IN A 192.0.2.2
  IN A 192.0.2.3
  IN AAAA 2001:db8::2
_dmarc IN TXT "v=DMARC1; p=reject"
_autodiscover._tcp IN SRV 0 5 443 mail
selector1._domainkey IN CNAME selector1-plain-test._domainkey.other.test.
alias 120 IN CNAME second
second IN CNAME mail
away IN CNAME www.other.test.
abroad IN CNAME www.elsewhere.test.
gone IN CNAME nowhere
circle-a IN CNAME circle-b
circle-b IN CNAME circle-a
parked IN MX 0 .
odd IN TXT "caf\\195\\169 \\255 \\000 \\"quoted\\""
below.deep IN A 192.0.2.4
medium ${texts(3)}
large ${texts(8)}
huge IN TXT ${`"${TEXT}" `.repeat(240)}
`

/** The SOA's TTL is shorter than its minimum: what is not there holds for half a minute. */
const OTHER = `
@ 30 IN SOA ns hostmaster 1 3600 600 86400 600
$TTL 300
@ IN NS ns
ns IN A 192.0.2.9
www 60 IN A 192.0.2.10
selector1-plain-test._domainkey IN TXT "v=DKIM1; p=AAAA"
`

const SIGNED = `
@ 900 IN SOA ns hostmaster 1 3600 600 86400 60
$TTL 300
@ IN NS ns
  IN MX 10 mail
  IN TXT "v=spf1 -all"
ns IN A 192.0.2.20
mail IN A 192.0.2.21
www IN CNAME mail
`

/** The zones that the servers of the tests know. */
const ZONES: readonly NsdZone[] = [
  { name: "plain.test", records: PLAIN, signing: "none" },
  { name: "other.test", records: OTHER, signing: "none" },
  { name: "signed.test", records: SIGNED, signing: "signed" },
  // Its only address is no longer the one that was signed.
  { name: "bogus.test", records: SIGNED.replace("mail IN A 192.0.2.21", ""), signing: "broken" },
]

/** What unbound does with questions: asks nsd for its zones, or refuses them. */
type Access = "allow" | "refuse"

/** The program that has to be installed. */
const UNBOUND_PROGRAMS = ["unbound"] as const

/**
 * Starts unbound, a recursor, in front of nsd: it asks it for these zones, believes what is signed by its keys, and denies all
 * other names, so that it asks nobody else.
 */
function startUnbound(nsd: Nsd, zones: readonly string[], access: Access): Promise<ChildServer> {
  return startChild(async (directory, port) => {
    const file = join(directory, "unbound.conf")
    const anchors = join(directory, "anchors.key")
    await Bun.write(anchors, `${nsd.trustAnchors.join("\n")}\n`)
    await Bun.write(file, configuration({ directory, port, anchors, nsd, zones, access }))
    return ["unbound", "-d", "-p", "-c", file]
  }, /start of service/)
}

type Configured = {
  readonly directory: string
  readonly port: number
  readonly anchors: string
  readonly nsd: Nsd
  readonly zones: readonly string[]
  readonly access: Access
}

function configuration({ directory, port, anchors, nsd, zones, access }: Configured): string {
  return `server:
  interface: 127.0.0.1
  port: ${port}
  do-ip6: no
  num-threads: 1
  username: ""
  chroot: ""
  directory: "${directory}"
  use-syslog: no
  logfile: ""
  verbosity: 1
  access-control: 127.0.0.0/8 ${access}
  module-config: "validator iterator"
  trust-anchor-file: "${anchors}"
  do-not-query-localhost: no
  local-zone: "." static
${zones.map(name => `  local-zone: "${name}." transparent\n`).join("")}remote-control:
  control-enable: no
# An alias may lead elsewhere: that is put to nsd too, which refuses it, and to no server of the root.
forward-zone:
  name: "."
  forward-addr: ${nsd.address}@${nsd.port}
${zones.map(name => `stub-zone:\n  name: "${name}."\n  stub-addr: ${nsd.address}@${nsd.port}\n`).join("")}`
}

/** A server that is asked, and our exchange with it. */
type Peer = DnsServerAddress & {
  readonly ask: (question: DnsQuestion) => Promise<ServerReply>
  readonly tick: (ms: number) => Promise<void>
}

const LIMIT_MS = 300_000
/** Time goes on only where a test says so: a reply comes, or the test's own limit. */
const TIMEOUT_MS = 1000
const DO = 0x8000
const EDNS = { size: 1232 }

const missing = [...NSD_PROGRAMS, ...UNBOUND_PROGRAMS].filter(program => programAt(program) === null)
const peers: { nsd?: Peer; unbound?: Peer; refusing?: Peer } = {}
const open = new AsyncDisposableStack()

beforeAll(async () => {
  if (missing.length > 0) return
  const names = ZONES.map(({ name }) => name)
  const nsd = open.use(await startNsd(ZONES))
  peers.nsd = peerOf(nsd)
  peers.unbound = peerOf(open.use(await startUnbound(nsd, names, "allow")))
  peers.refusing = peerOf(open.use(await startUnbound(nsd, names, "refuse")))
}, LIMIT_MS)

afterAll(() => open.disposeAsync(), LIMIT_MS)

function peerOf(server: DnsServerAddress): Peer {
  const { later: setTimer, tick } = createFakeTime()
  const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))
  const exchange = new UdpExchange(server, { random, setTimer })
  open.defer(() => exchange.close())
  const ask = (question: DnsQuestion) => replyWithin(exchange, question, TIMEOUT_MS, setTimer)
  return { address: server.address, port: server.port, ask, tick }
}

/** A test with real servers, told as skipped and why where they are not installed. */
function interop(description: string, run: (nsd: Peer, unbound: Peer, refusing: Peer) => Promise<void>): void {
  const why = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")} of Debian's packages are not installed)`
  test.skipIf(missing.length > 0)(
    `${description}${why}`,
    async () => {
      const { nsd, unbound, refusing } = peers
      if (nsd === undefined || unbound === undefined || refusing === undefined)
        throw new Error("a server did not start")
      await run(nsd, unbound, refusing)
    },
    LIMIT_MS,
  )
}

const asks = (type: DnsRecordType, name: string): DnsQuestion => ({ type, name })
const reply = (peer: Peer, type: DnsRecordType, name: string): Promise<ServerReply> => peer.ask(asks(type, name))

/** Outcome, records in a fixed order, and where the chain goes on: all but how long it holds. */
async function facts(peer: Peer, type: DnsRecordType, name: string) {
  const response = await reply(peer, type, name)
  if (response.kind !== "answered") return response.kind
  const { outcome, records } = response.answer
  const sorted = records.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
  return response.pendingCname === null ? [outcome, ...sorted] : [outcome, ...sorted, `on to ${response.pendingCname}`]
}

/** How long an answer holds; NaN: there is none. A recursor's TTLs go down, and it may have got the record a while ago. */
async function ttlS(peer: Peer, type: DnsRecordType, name: string): Promise<number> {
  const response = await reply(peer, type, name)
  return response.kind === "answered" ? response.answer.ttlS : Number.NaN
}

const A = (address: string): DnsRecord => ({ type: "A", address })
const TXT = (text: string): DnsRecord => ({ type: "TXT", text })

const RECORDS: readonly (readonly [DnsRecordType, string, readonly DnsRecord[]])[] = [
  ["A", "mail.plain.test", [A("192.0.2.2"), A("192.0.2.3")]],
  ["AAAA", "mail.plain.test", [{ type: "AAAA", address: "2001:db8:0:0:0:0:0:2" }]],
  [
    "MX",
    "plain.test",
    [
      { type: "MX", preference: 10, exchange: "mail.plain.test" },
      { type: "MX", preference: 20, exchange: "backup.other.test" },
    ],
  ],
  ["TXT", "plain.test", [TXT("v=spf1 include:_spf.plain.test -all")]],
  ["TXT", "_dmarc.plain.test", [TXT("v=DMARC1; p=reject")]],
  ["TXT", "odd.plain.test", [TXT('café \ufffd \0 "quoted"')]],
  ["CNAME", "alias.plain.test", [{ type: "CNAME", target: "second.plain.test" }]],
  ["SRV", "_autodiscover._tcp.plain.test", [{ type: "SRV", priority: 0, port: 443, target: "mail.plain.test" }]],
  [
    "NS",
    "plain.test",
    [
      { type: "NS", target: "ns.other.test" },
      { type: "NS", target: "ns.plain.test" },
    ],
  ],
  ["MX", "parked.plain.test", [{ type: "MX", preference: 0, exchange: "" }]],
]

for (const [type, name, records] of RECORDS) {
  interop(`${type} of ${name} is read as it stands in the zone, from both servers`, async (nsd, unbound) => {
    expect(await facts(nsd, type, name)).toEqual(["records", ...records])
    expect(await facts(unbound, type, name)).toEqual(["records", ...records])
  })
}

interop("aliases within a zone are followed by both servers, and the shortest TTL holds", async (nsd, unbound) => {
  for (const peer of [nsd, unbound]) {
    expect(await facts(peer, "A", "alias.plain.test")).toEqual(["records", A("192.0.2.2"), A("192.0.2.3")])
    expect(await ttlS(peer, "A", "alias.plain.test")).toBeWithin(1, 121)
  }
})

interop(
  "an alias into another zone is followed as far as the server knows, and told where it goes on",
  async (nsd, unbound) => {
    for (const peer of [nsd, unbound]) {
      expect(await facts(peer, "A", "away.plain.test")).toEqual(["records", A("192.0.2.10")])
      expect(await ttlS(peer, "A", "away.plain.test")).toBeWithin(1, 61)
      expect(await facts(peer, "TXT", "selector1._domainkey.plain.test")).toEqual(["records", TXT("v=DKIM1; p=AAAA")])
    }
    expect(await facts(nsd, "A", "abroad.plain.test")).toEqual(["no_data", "on to www.elsewhere.test"])
    expect(await facts(unbound, "A", "abroad.plain.test")).toEqual("failed")
  },
)

interop("an alias to a name that does not exist has no records", async (nsd, unbound) => {
  expect(await facts(nsd, "A", "gone.plain.test")).toEqual(["no_data"])
  expect(await facts(unbound, "A", "gone.plain.test")).toEqual(["no_data"])
})

interop("aliases in a circle are a failure", async (nsd, unbound) => {
  expect(await facts(nsd, "A", "circle-a.plain.test")).toEqual("failed")
  expect(await facts(unbound, "A", "circle-a.plain.test")).toEqual("failed")
})

interop("what is not there holds as long as the lesser of the SOA's TTL and minimum", async (nsd, unbound) => {
  for (const peer of [nsd, unbound]) {
    expect(await facts(peer, "MX", "none.plain.test")).toEqual(["no_name"])
    expect(await ttlS(peer, "MX", "none.plain.test")).toBeWithin(1, 61)
    expect(await facts(peer, "MX", "ns.plain.test")).toEqual(["no_data"])
    expect(await ttlS(peer, "MX", "ns.plain.test")).toBeWithin(1, 61)
    expect(await facts(peer, "MX", "none.other.test")).toEqual(["no_name"])
    expect(await ttlS(peer, "MX", "none.other.test")).toBeWithin(1, 31)
    expect(await facts(peer, "A", "deep.plain.test")).toEqual(["no_data"])
  }
})

interop("an answer that does not fit is cut, and comes whole over TCP", async (nsd, unbound) => {
  for (const peer of [nsd, unbound]) {
    for (const [name, count, bytes] of [
      ["large.plain.test", 8, 251],
      ["huge.plain.test", 1, 60_000],
    ] as const) {
      const question = asks("TXT", name)
      expect((await answerOf(peer, query(1, question, EDNS))).flag_tc).toBe(true)
      const response = await peer.ask(question)
      const records = response.kind === "answered" ? response.answer.records : []
      expect(records.map(one => (one.type === "TXT" ? one.text.length : 0))).toEqual(Array<number>(count).fill(bytes))
    }
  }
})

interop("the size that EDNS says is honoured, and ours spares the second question", async (nsd, unbound) => {
  for (const peer of [nsd, unbound]) {
    const isCut = async (edns?: typeof EDNS) =>
      (await answerOf(peer, query(1, asks("TXT", "medium.plain.test"), edns))).flag_tc
    expect([await isCut(), await isCut({ size: 512 }), await isCut(EDNS)]).toEqual([true, true, false])
  }
})

interop("a signed zone's answers are read, with signatures among them or not", async (nsd, unbound) => {
  for (const peer of [nsd, unbound]) {
    expect(await facts(peer, "MX", "signed.test")).toEqual([
      "records",
      { type: "MX", preference: 10, exchange: "mail.signed.test" },
    ])
    expect(await facts(peer, "A", "www.signed.test")).toEqual(["records", A("192.0.2.21")])
    expect(await facts(peer, "A", "none.signed.test")).toEqual(["no_name"])
    expect(await facts(peer, "A", "signed.test")).toEqual(["no_data"])
    for (const [type, name] of [
      ["A", "www.signed.test"],
      ["A", "none.signed.test"],
      ["AAAA", "mail.signed.test"],
    ] as const) {
      using asker = await udpAsker(peer)
      asker.send(query(7, asks(type, name), { ...EDNS, flags: DO }))
      const message = (await asker.next())?.message ?? Buffer.alloc(0)
      const plain = await reply(peer, type, name)
      expect(plain).toMatchObject({ kind: "answered" })
      const { answer } = plain.kind === "answered" ? plain : { answer: null }
      expect(parseReply(message, 7, asks(type, name))).toMatchObject({
        kind: "answered",
        answer: { outcome: answer?.outcome, records: answer?.records },
      })
    }
  }
})

interop("signatures come only to those who ask for them, and the recursor has checked them", async (nsd, unbound) => {
  const types = async (peer: Peer, flags: number) =>
    (await answerOf(peer, query(1, asks("TXT", "signed.test"), { ...EDNS, flags }))).answers?.map(({ type }) => type)
  expect([await types(nsd, 0), await types(nsd, DO)]).toEqual([["TXT"], ["TXT", "RRSIG"]])
  expect([await types(unbound, 0), await types(unbound, DO)]).toEqual([["TXT"], ["TXT", "RRSIG"]])
  expect((await answerOf(unbound, query(1, asks("TXT", "signed.test"), { ...EDNS, flags: DO }))).flag_ad).toBe(true)
})

interop("a record whose signature is broken is a failure at the recursor that checks", async (nsd, unbound) => {
  expect(await facts(unbound, "A", "ns.bogus.test")).toBe("failed")
  expect(await facts(nsd, "A", "ns.bogus.test")).toEqual(["records", A("198.51.100.20")])
})

interop("a server that does not know the zone fails", async nsd => {
  expect(await facts(nsd, "MX", "gmail.com")).toBe("failed")
})

interop("a refusal that is a header alone is a failure", async (_nsd, _unbound, refusing) => {
  const response = facts(refusing, "MX", "plain.test")
  const { flags = 0, questions } = await answerOf(refusing, query(1, asks("MX", "plain.test")))
  expect([flags & 15, questions]).toEqual([5, []])
  expect(await response).toBe("failed")
})

interop("a recursor in a closed network denies every name", async (_, unbound) => {
  expect(await facts(unbound, "MX", "gmail.com")).toEqual(["no_name"])
})

interop("a hundred questions at once all come back", async (nsd, unbound) => {
  for (const peer of [nsd, unbound]) {
    const replies = await Promise.all(Array.from({ length: 100 }, (_, at) => facts(peer, "A", `none${at}.plain.test`)))
    expect(replies).toEqual(Array.from({ length: 100 }, () => ["no_name"]))
  }
})
