import { expect, test } from "bun:test"
import { decode, encode } from "dns-packet"
import { answerTo, askedIn, textAnswer } from "../../bench/servers/dns-answers.ts"
import type { DnsRecordType } from "../../src/check/dns/dns-types.ts"
import { encodeQuery, parseReply } from "../../src/check/dns/wire/packet.ts"

/** The product's question, the bench's answer to it, and what the product reads there. */
function read(type: DnsRecordType, name: string) {
  const query = encodeQuery(7, { type, name })
  const question = askedIn(query)
  if (question === null) throw new Error("the question was not read")
  const reply = parseReply(answerTo(question), 7, { type, name })
  return reply.kind === "answered" ? [reply.answer.outcome, ...reply.answer.records] : reply.kind
}

test("every domain of the bench has mail, addresses, SPF and DMARC of its own", () => {
  expect(read("MX", "d1.bench.com")).toEqual(["records", { type: "MX", preference: 10, exchange: "mx.d1.bench.com" }])
  expect(read("A", "mx.d1.bench.com")).toEqual(["records", { type: "A", address: "198.51.99.1" }])
  expect(read("AAAA", "d1.bench.com")).toEqual(["records", { type: "AAAA", address: "2a01:4f8:0:0:0:0:0:1" }])
  expect(read("TXT", "d1.bench.com")).toEqual(["records", { type: "TXT", text: "v=spf1 mx -all" }])
  expect(read("TXT", "_dmarc.d1.bench.com")).toEqual(["records", { type: "TXT", text: "v=DMARC1; p=reject" }])
})

test("other types have no records, and names that say so do not exist, nor does what stands below them", () => {
  expect(read("CNAME", "autodiscover.d1.bench.com")).toEqual(["no_data"])
  expect(read("MX", "_dmarc.d1.bench.com")).toEqual(["no_data"])
  expect(read("SRV", "_autodiscover._tcp.d1.bench.com")).toEqual(["no_name"])
  expect(read("MX", "nx1.bench.com")).toEqual(["no_name"])
  expect(read("TXT", "_dmarc.nx1.bench.com")).toEqual(["no_name"])
  expect(read("MX", "nxt.bench.com")).toMatchObject(["records", {}])
})

test("an answer gives back the question, recursion and EDNS as they came", () => {
  const query = encode({ type: "query", id: 513, questions: [{ type: "MX", name: "D1.bench.com" }] })
  const requests = askedIn(query)
  if (requests === null) throw new Error("the question was not read")
  const response = decode(Buffer.from(answerTo(requests)))
  expect(response).toMatchObject({ id: 513, flag_rd: false, flag_ra: true, questions: [{ name: "D1.bench.com" }] })
  expect(response.additionals).toEqual([])
  expect(decode(Buffer.from(textAnswer(requests, "42"))).answers).toMatchObject([{ ttl: 0, data: [Buffer.from("42")] }])
})

test("what is no question is not answered", () => {
  const query = encodeQuery(7, { type: "MX", name: "d1.bench.com" })
  const question = askedIn(query)
  if (question === null) throw new Error("the question was not read")
  for (const bytes of [query.subarray(0, 12), query.subarray(0, 20), answerTo(question)])
    expect(askedIn(bytes)).toBeNull()
})
