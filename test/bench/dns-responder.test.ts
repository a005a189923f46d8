import { expect, test } from "bun:test"
import { answerTo, askedIn } from "../../bench/servers/dns-answers.ts"
import { askDnsServer, dnsServerCommand } from "../../bench/servers/dns-server-control.ts"
import { startServer } from "../../bench/servers/server-process.ts"
import type { DnsRecordType } from "../../src/check/dns/dns-types.ts"
import { encodeQuery, parseReply } from "../../src/check/dns/wire/packet.ts"

const QUESTIONS: readonly (readonly [DnsRecordType, string])[] = [
  ...(["MX", "A", "AAAA", "TXT", "NS", "SRV"] as const).map(type => [type, "d1.bench.com"] as const),
  ["MX", "suite-d1.com"],
  ["A", "mx.d1.bench.com"],
  ["TXT", "_dmarc.d1.bench.com"],
  ["MX", "_dmarc.d1.bench.com"],
  ["SRV", "_autodiscover._tcp.d1.bench.com"],
  ["MX", "nx1.bench.com"],
  ["TXT", "_dmarc.nx1.bench.com"],
  ["MX", "nxt.bench.com"],
]

test.skipIf(Bun.which("cc") === null)(
  "the responder in C answers as the zone in TypeScript, and hears what steers it",
  async () => {
    const { command, description } = dnsServerCommand(1)
    expect(description).toContain(".c")
    await using server = await startServer({ command })
    const waiting: ((bytes: Uint8Array) => void)[] = []
    const socket = await Bun.udpSocket({
      connect: { hostname: server.url.hostname, port: Number(server.url.port) },
      binaryType: "uint8array",
      socket: { data: (_, bytes) => waiting.shift()?.(bytes) },
    })
    const replyTo = (query: Uint8Array) =>
      new Promise<Uint8Array>(resolve => {
        waiting.push(resolve)
        socket.send(query)
      })
    for (const [type, name] of QUESTIONS) {
      const query = Uint8Array.from(encodeQuery(7, { type, name }))
      const asked = askedIn(query)
      if (asked === null) throw new Error("the question was not read")
      const read = (bytes: Uint8Array) => parseReply(bytes, 7, { type, name })
      expect(read(await replyTo(query))).toEqual(read(answerTo(asked)))
    }
    expect(await askDnsServer(server.url, "count")).toBe(String(QUESTIONS.length))
    await askDnsServer(server.url, "mute")
    socket.send(encodeQuery(7, { type: "A", name: "d1.bench.com" }))
    expect(await askDnsServer(server.url, "speak")).toBe(String(QUESTIONS.length + 1))
    socket.close()
  },
)
