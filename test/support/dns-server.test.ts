import { expect, test } from "bun:test"
import { decode, type Packet, type Question } from "dns-packet"
import { type Asker, answerOf, query, type Received, tcpAsker, udpAsker } from "./dns-asker.ts"
import type { Fault } from "./dns-faults.ts"
import { dnsServer } from "./dns-server.ts"
import { outcomeOf } from "./outcome-of.ts"

const ZONE = {
  "MX example.com": ["10 mx.example.com", "20 mx2.example.com"],
  "TXT example.com 60": ["v=spf1 -all", '"two " "strings"', "\\000\\255"],
  "A mx.example.com": ["192.0.2.1"],
  "AAAA mx.example.com": ["2001:db8::1"],
  "SRV _autodiscover._tcp.example.com": ["0 5 443 mx.example.com"],
  "NS example.com": ["ns.example.com"],
  "CNAME www.example.com": ["host.example.com"],
  "CNAME host.example.com": ["mx.example.com"],
  "CNAME gone.example.com": ["nowhere.example.com"],
  "CNAME a.loop.com": ["b.loop.com"],
  "CNAME b.loop.com": ["a.loop.com"],
  "MX null.com": ["0 ."],
  "TXT huge.com": ["x".repeat(60_000)],
  "A last.test": ["192.0.2.9"],
}
const MX: Question = { type: "MX", name: "example.com" }
const A: Question = { type: "A", name: "mx.example.com" }
const WWW: Question = { type: "A", name: "www.example.com" }
const EDNS = { size: 1232 }
const LAST_ID = 0xfff0

/** All that comes back to a question: what stands before the answer to a question behind it, which is always well. */
async function received(asker: Asker, packet: Packet): Promise<Received[]> {
  asker.send(packet)
  asker.send(query(LAST_ID, { type: "A", name: "last.test" }))
  const all: Received[] = []
  for (;;) {
    const one = await asker.next()
    if (one === null || (one.message.length > 2 && one.message.readUInt16BE(0) === LAST_ID)) return all
    all.push(one)
  }
}

/** What a fault of one name makes of a question over UDP. */
async function under(fault: Fault, question: Question = MX) {
  using server = await dnsServer(ZONE)
  using asker = await udpAsker(server)
  server.fault(question.name, fault)
  const all = await received(asker, query(7, question, EDNS))
  return { server, asker, all, message: all[0]?.message ?? Buffer.alloc(0) }
}

const answersOf = async (fault: Fault, question?: Question) => decode((await under(fault, question)).message)

test("the server says what its zone holds, for each type", async () => {
  using server = await dnsServer(ZONE)
  const facts = async (type: Question["type"], name: string) =>
    (await answerOf(server, query(1, { type, name }))).answers?.map(one => ("data" in one ? one.data : null))
  expect(await facts("MX", "example.com")).toEqual([
    { preference: 10, exchange: "mx.example.com" },
    { preference: 20, exchange: "mx2.example.com" },
  ])
  expect(await facts("TXT", "example.com")).toEqual([
    [Buffer.from("v=spf1 -all")],
    [Buffer.from("two "), Buffer.from("strings")],
    [Buffer.of(0, 255)],
  ])
  expect(await facts("AAAA", "mx.example.com")).toEqual(["2001:db8::1"])
  expect(await facts("SRV", "_autodiscover._tcp.example.com")).toEqual([
    { priority: 0, weight: 5, port: 443, target: "mx.example.com" },
  ])
  expect(await facts("NS", "EXAMPLE.com")).toEqual(["ns.example.com"])
  expect(await facts("MX", "null.com")).toEqual([{ preference: 0, exchange: "." }])
  expect(await facts("A", "www.example.com")).toEqual(["host.example.com", "mx.example.com", "192.0.2.1"])
  expect(await facts("CNAME", "www.example.com")).toEqual(["host.example.com"])
  expect(await facts("A", "a.loop.com")).toEqual(["b.loop.com", "a.loop.com"])
})

test("an answer without records has an SOA, and only a name with nothing at or below it does not exist", async () => {
  using server = await dnsServer(ZONE, { soaTtlS: 900, soaMinimumS: 30 })
  const facts = async (type: Question["type"], name: string) => {
    const { answers, authorities, flags = 0 } = await answerOf(server, query(1, { type, name }))
    const [soa] = authorities ?? []
    return [flags & 15, answers?.length, soa?.name, soa?.type === "SOA" ? [soa.ttl, soa.data.minimum] : null]
  }
  expect(await facts("A", "none.example.com")).toEqual([3, 0, "example.com", [900, 30]])
  expect(await facts("A", "example.com")).toEqual([0, 0, "example.com", [900, 30]])
  expect(await facts("A", "_tcp.example.com")).toEqual([0, 0, "example.com", [900, 30]])
  expect(await facts("A", "gone.example.com")).toEqual([3, 1, "example.com", [900, 30]])
})

test("an answer longer than the asker takes is cut and says so, and is whole over TCP", async () => {
  using server = await dnsServer({
    "TXT fits.com": ["x".repeat(400)],
    "TXT long.com": ["x".repeat(600)],
    "TXT huge.com": ["x".repeat(60_000)],
  })
  const facts = async (name: string, size: number | null, way: "udp" | "tcp" = "udp") => {
    const edns = size === null ? undefined : { size }
    const { flag_tc, answers } = await answerOf(server, query(1, { type: "TXT", name }, edns), way)
    return [flag_tc, answers?.length]
  }
  expect(await facts("fits.com", null)).toEqual([false, 1])
  expect(await facts("long.com", null)).toEqual([true, 0])
  expect(await facts("long.com", 1232)).toEqual([false, 1])
  expect(await facts("huge.com", 1232)).toEqual([true, 0])
  expect(await facts("huge.com", 1232, "tcp")).toEqual([false, 1])
})

test("the server writes down what it was asked", async () => {
  using server = await dnsServer(ZONE)
  using udp = await udpAsker(server)
  using tcp = await tcpAsker(server)
  udp.send(query(11, { type: "MX", name: "Example.COM" }, { size: 1400, flags: 0x8000 }))
  await server.hasHeard(1)
  tcp.send(query(12, A))
  await server.hasHeard(2)
  const shared = { isRecursive: true }
  expect(server.heard).toEqual([
    {
      ...shared,
      name: "Example.COM",
      type: "MX",
      id: 11,
      port: udp.port,
      way: "udp",
      ednsSize: 1400,
      ednsFlags: 0x8000,
    },
    { ...shared, name: "mx.example.com", type: "A", id: 12, port: tcp.port, way: "tcp", ednsSize: null, ednsFlags: 0 },
  ])
  expect(server.sendRequest()).toEqual(["MX example.com", "A mx.example.com"])
})

test("a fault holds for a name and type, before a name, before a type, before everything, until it is taken away", async () => {
  using server = await dnsServer(ZONE)
  const code = async (question: Question) => ((await answerOf(server, query(1, question))).flags ?? 0) & 15
  server.fault("*", "servfail")
  server.fault("A *", "refused")
  server.fault("example.com", "nxdomain")
  server.fault("TXT example.com", "no_data_without_soa")
  expect(await code({ type: "TXT", name: "example.com" })).toBe(0)
  expect(await code(MX)).toBe(3)
  expect(await code({ type: "A", name: "last.test" })).toBe(5)
  expect(await code({ type: "NS", name: "last.test" })).toBe(2)
  server.fault("A *", null)
  expect(await code({ type: "A", name: "last.test" })).toBe(2)
})

test("faults of what is said change the code or the records", async () => {
  expect((await answersOf("servfail")).flags).toBe(0x0182)
  expect((await answersOf("refused")).flags).toBe(0x0185)
  const denied = await answersOf("nxdomain")
  expect([denied.flags, denied.authorities?.[0]?.name]).toEqual([0x0183, "."])
  expect((await answersOf("nxdomain_without_soa")).authorities).toEqual([])
  expect(await answersOf("no_data_without_soa")).toMatchObject({ flags: 0x0180, answers: [], authorities: [] })
  expect((await answersOf("unfinished", WWW)).answers).toMatchObject([{ type: "CNAME", data: "host.example.com" }])
  expect((await answersOf("cname_loop", A)).answers).toMatchObject([{ data: "loop.mx.example.com" }, { data: A.name }])
  const chain = (await answersOf("cname_chain", A)).answers ?? []
  expect(chain.map(({ type }) => type)).toEqual([...Array<"CNAME">(20).fill("CNAME"), "A"])
  expect((await answersOf("backwards", WWW)).answers?.map(({ type }) => type)).toEqual(["A", "CNAME", "CNAME"])
  expect((await answersOf("huge_txt")).flag_tc).toBe(true)
  expect((await answersOf("poison")).answers?.map(({ name }) => name)).toEqual([
    ...["victim.example", "victim.example", "example.com", "example.com"],
  ])
  expect((await answersOf("poison")).additionals?.[0]).toMatchObject({ name: "victim.example", type: "A" })
  const [shouted] = (await answersOf("upper_case")).answers ?? []
  expect(shouted).toMatchObject({ name: "EXAMPLE.COM", data: { exchange: "MX.EXAMPLE.COM" } })
})

test("faults of TTLs change those of the records and of the SOA", async () => {
  const ttl = async (fault: Fault, question?: Question) => {
    const { answers = [], authorities = [] } = await answersOf(fault, question)
    return [...answers, ...authorities].map(one => ("ttl" in one ? one.ttl : null))
  }
  expect(await ttl("ttl_zero")).toEqual([0, 0])
  expect(await ttl("ttl_tiny", { type: "A", name: "example.com" })).toEqual([1])
  expect(await ttl("ttl_top_bit")).toEqual([0x8000012c, 0x8000012c])
})

test("faults of the bytes send none, several or unreadable messages", async () => {
  const count = async (fault: Fault) => (await under(fault)).all.length
  expect([await count("silent"), await count("duplicate"), await count("garbage")]).toEqual([0, 2, 1])
  expect((await under("garbage")).message.readUInt16BE(0)).not.toBe(7)
  expect((await under("garbage_body")).message.readUInt16BE(0)).toBe(7)
  expect((await under("empty")).message).toHaveLength(0)
  expect((await under("header_cut")).message).toHaveLength(7)
  for (const fault of ["body_cut", "compression_loop", "name_of_255_labels", "counts_lie", "garbage_body"] as const) {
    const { message } = await under(fault)
    expect([fault, message.readUInt16BE(0)]).toEqual([fault, 7])
    expect(() => decode(message)).toThrow()
  }
  const lengths = async (fault: Fault) => (await under(fault)).message.readUInt16BE(12 + 17 + 13 + 8)
  expect([await lengths("rdlength_long"), await lengths("rdlength_short")]).toEqual([0xffff, 1])
})

test("faults of header and question change the id, the name, its case, the type or the kind of message", async () => {
  expect((await answersOf("wrong_id")).id).toBe(7 ^ 0x5a5a)
  expect((await answersOf("wrong_question")).questions).toEqual([{ ...MX, name: "zxample.com", class: "IN" }])
  expect((await answersOf("wrong_question_type")).questions).toEqual([{ ...MX, type: "PTR", class: "IN" }])
  expect(await answersOf("no_question")).toMatchObject({ id: 7, questions: [], answers: [{}, {}] })
  expect(await answersOf("refused_header")).toMatchObject({ id: 7, flags: 0x0185, questions: [], additionals: [] })
  expect((await answersOf("case_changed")).questions).toEqual([{ ...MX, name: "EXAMPLE.COM", class: "IN" }])
  expect((await answersOf("echo")).type).toBe("query")
  expect(await answersOf("truncated")).toMatchObject({ flag_tc: true, answers: [], additionals: [] })
})

test("an answer may come from another port, or when the test lets go", async () => {
  const elsewhere = await under("other_port")
  expect(elsewhere.all.map(({ port }) => port === elsewhere.server.port)).toEqual([false])
  using server = await dnsServer(ZONE)
  using asker = await udpAsker(server)
  server.fault("example.com", "held")
  expect(await received(asker, query(7, MX))).toEqual([])
  expect(server.release()).toBe(1)
  expect((await asker.next())?.message.readUInt16BE(0)).toBe(7)
  expect(server.release()).toBe(0)
})

test("over TCP a server may say nothing, half of it, or hang up, while UDP is as it says", async () => {
  using server = await dnsServer(ZONE)
  const overTcp = async (tcp: Fault) => {
    server.fault("example.com", { udp: "truncated", tcp })
    expect((await answerOf(server, query(1, MX))).flag_tc).toBe(true)
    using asker = await tcpAsker(server)
    return (await received(asker, query(7, MX))).length
  }
  expect([await overTcp("silent"), await overTcp("cut"), await overTcp("closed")]).toEqual([0, 0, 0])
  expect(await overTcp("duplicate")).toBe(2)
  server.fault("example.com", { udp: "truncated" })
  expect((await answerOf(server, query(1, MX), "tcp")).answers).toHaveLength(2)
})

test("a server that is gone hears nothing, and comes back on its port", async () => {
  using server = await dnsServer(ZONE)
  using asker = await udpAsker(server)
  await server.pause()
  asker.send(query(1, MX))
  expect(await outcomeOf(tcpAsker(server))).toThrow()
  await server.resume()
  expect((await received(asker, query(2, MX))).map(({ message }) => message.readUInt16BE(0))).toEqual([2])
  expect(server.heard.map(({ id }) => id)).toEqual([2, LAST_ID])
})

test("a server hears no octets that are no query, and refuses a zone that does not read", async () => {
  using server = await dnsServer(ZONE)
  using asker = await udpAsker(server)
  asker.send({ ...query(1, MX), type: "response" })
  asker.send({ type: "query", id: 2, questions: [] })
  expect(await received(asker, query(3, A))).toHaveLength(1)
  expect(server.sendRequest()).toEqual(["A mx.example.com", "A last.test"])
  expect(await outcomeOf(dnsServer({ "HINFO example.com": ["x"] }))).toThrow("HINFO")
})
