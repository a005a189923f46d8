import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Deadline } from "../../../src/base/concurrency.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { parseDisposableAddresses } from "../../../src/check/mail/disposable-addresses.ts"
import {
  ADDRESSES_PER_HOST_MAX,
  HOSTS_RESOLVED_MIN,
  HOSTS_TIMEOUT_MS,
  publicAddresses,
} from "../../../src/check/mail/host-addresses.ts"
import { createMailProbe } from "../../../src/check/mail/mail-probe.ts"
import { HOST_QUESTIONS_MAX, QUESTIONS_MAX } from "../../../src/check/mail/question-budget.ts"
import { createFakeTime } from "../../support/time.ts"
import { asking, type ZoneRecords, zone } from "../../support/zone.ts"

const SUITE_A = "aspmx.l.google.com"
const GATEWAY = "mxa-001.pphosted.com"
const PLACEHOLDER = "ms1.msv1.invalid.outlook.com"
const PUBLIC = "198.51.99.25"
const DISPOSABLE = "78.47.124.133"
const WITHIN_MS = 1000

async function probe(records: ZoneRecords, resolver?: CachingResolver) {
  const { clock, later: setTimer } = createFakeTime()
  const { ask, requests } = zone(records)
  const deadline = new Deadline(setTimer, WITHIN_MS)
  const { mail, hosts } = await createMailProbe({ ask: asking(resolver ?? ask), clock })(
    "acme.com",
    "acme.com",
    deadline,
  )
  if (!mail.known) throw new Error("the case leaves mail unknown")
  const questions = requests.filter(each => !each.endsWith(" acme.com") && !each.includes("_dmarc"))
  return { ...mail.value, hosts, questions }
}

const isUnreachable = async (records: ZoneRecords) => (await probe(records)).isUnreachable

/** A domain with so many mail hosts below its own name, each with these records. */
function withHosts(count: number, records: (host: string) => ZoneRecords): ZoneRecords {
  const hosts = Array.from({ length: count }, (_, at) => `mx${at}.acme.com`)
  return Object.assign({ "MX acme.com": hosts.map((host, at) => `${at} ${host}`) }, ...hosts.map(records))
}

describe("the addresses of mail hosts", () => {
  test("are looked up for the two most preferred hosts, IPv4 first, and IPv6 only where no IPv4 address is public", async () => {
    const three = { "MX acme.com": ["10 a.mx.net", "20 b.mx.net", "30 c.mx.net"] }
    expect((await probe(three)).questions).toEqual(["A a.mx.net", "A b.mx.net"])
    const records = { ...three, "A a.mx.net": ["127.0.0.1"], "AAAA a.mx.net": ["2A01:4F8:0:0::1"] }
    const { questions, hosts } = await probe(records)
    expect(questions.toSorted()).toEqual(["A a.mx.net", "A b.mx.net", "AAAA a.mx.net"])
    expect(hosts).toEqual([
      { host: "a.mx.net", priority: 10, addresses: ["2a01:4f8::1"] },
      { host: "b.mx.net", priority: 20, addresses: [PUBLIC] },
    ])
  })

  test("are not looked up for a host of a known provider or a placeholder", async () => {
    for (const host of [SUITE_A, GATEWAY, PLACEHOLDER, "mail.mailinator.com", "route1.mx.cloudflare.net"])
      expect((await probe({ "MX acme.com": [`10 ${host}`] })).hosts).toEqual([])
    expect((await probe({ "MX acme.com": [`10 ${SUITE_A}`] })).questions).toEqual([])
    expect((await probe({ "MX acme.com": [`10 ${SUITE_A}`, "20 mx.net-host.com"] })).questions).toEqual([
      "A mx.net-host.com",
    ])
  })

  test("of the domain itself are not asked for a second time", async () => {
    const { ask, requests } = zone({ "MX acme.com": ["0 acme.com"], "A acme.com": [PUBLIC] })
    const { hosts } = await probe({}, ask)
    expect(hosts).toEqual([{ host: "acme.com", priority: 0, addresses: [PUBLIC] }])
    expect(requests.filter(each => each === "A acme.com")).toHaveLength(1)
  })

  test("are read from a name that is an address", async () => {
    expect((await probe({ "MX acme.com": [`10 ${PUBLIC}`] })).hosts[0]?.addresses).toEqual([PUBLIC])
    expect((await probe({ "MX acme.com": [`10 ${PUBLIC}`] })).questions).toEqual([])
  })

  test("of one host are bounded, whatever their number and order", async () => {
    const all = Array.from({ length: 500 }, (_, at) => `198.51.${at % 2}.${Math.floor(at / 2)}`)
    const [one, other] = [publicAddresses(all), publicAddresses(all.toReversed())]
    expect(one).toHaveLength(ADDRESSES_PER_HOST_MAX)
    expect(other).toEqual(one)
    const special = Array.from({ length: 500 }, (_, at) => `10.0.0.${at % 256}`)
    expect(publicAddresses([...special, PUBLIC])).toEqual([PUBLIC])
    const { hosts, questions } = await probe({ "MX acme.com": ["10 a.mx.net"], "A a.mx.net": all })
    expect(hosts[0]?.addresses).toEqual(one)
    expect(questions).toEqual(["A a.mx.net"])
  })

  test("of a host that fails, or that does not answer before the deadline, are no evidence", async () => {
    for (const cause of ["timed_out", "unavailable"] as const) {
      const failed = await probe({ "MX acme.com": ["10 a.mx.net"], "A a.mx.net": cause })
      expect([failed.isUnreachable, failed.hosts[0]?.addresses]).toEqual([false, []])
    }
    const time = createFakeTime()
    const { ask } = zone({ "MX acme.com": ["10 a.mx.net"], "A a.mx.net": ["127.0.0.1"] })
    const resolver: CachingResolver = question =>
      question.name === "a.mx.net" ? Promise.withResolvers<never>().promise : ask(question)
    const pending = createMailProbe({ ask: asking(resolver), clock: time.clock })(
      "acme.com",
      "acme.com",
      new Deadline(time.later, WITHIN_MS),
    )
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    await time.tick(WITHIN_MS)
    expect((await pending).mail).toMatchObject({ known: true, value: { delivery: "mx", isUnreachable: false } })
  })
})

test("the addresses of slow hosts are waited for a second in all, and the other records make a result that is kept", async () => {
  const time = createFakeTime()
  const { ask } = zone({ "MX acme.com": ["10 a.mx.net", "20 b.mx.net"], "TXT acme.com": ["v=spf1 -all"] })
  const resolver: CachingResolver = question =>
    question.name.endsWith(".mx.net") ? Promise.withResolvers<never>().promise : ask(question)
  const deadline = new Deadline(time.later, 3 * HOSTS_TIMEOUT_MS)
  let isSettled = false
  const pending = createMailProbe({ ask: asking(resolver), clock: time.clock })(
    "acme.com",
    "acme.com",
    deadline,
  ).finally(() => {
    isSettled = true
  })
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  }
  await turns()
  await time.tick(HOSTS_TIMEOUT_MS - 1)
  await turns()
  expect(isSettled).toBe(false)
  await time.tick(1)
  await turns()
  expect([isSettled, deadline.isExpired]).toEqual([true, false])
  const { mail, freshUntilMs } = await pending
  expect(mail).toMatchObject({ known: true, value: { delivery: "mx", isUnreachable: false } })
  expect(freshUntilMs).toBeGreaterThan(time.clock())
})

describe("a domain is out of reach", () => {
  const at = (...addresses: readonly string[]) => ({ "MX acme.com": ["10 a.mx.net"], "A a.mx.net": addresses })

  test("if every mail host has no address, or none that is public", async () => {
    const special = ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.7.7", "0.0.0.0", "100.64.0.1"]
    for (const address of [...special, "192.0.2.1", "198.18.0.1", "203.0.113.9", "224.0.0.1", "255.255.255.255"])
      expect([address, await isUnreachable(at(address))]).toEqual([address, true])
    for (const address of ["::1", "fe80::1", "fc00::1", "2001:db8::1", "::ffff:10.0.0.1", "ff02::1"])
      expect([address, await isUnreachable({ ...at(), "A a.mx.net": "no_data", "AAAA a.mx.net": [address] })]).toEqual([
        address,
        true,
      ])
    expect(await isUnreachable({ "MX acme.com": ["10 a.mx.net"], "A a.mx.net": "no_name" })).toBe(true)
    expect(await isUnreachable({ "MX acme.com": ["10 a.mx.net"], "* a.mx.net": "no_data" })).toBe(true)
    expect(await isUnreachable({ "MX acme.com": ["10 localhost", "20 10.0.0.1"] })).toBe(true)
    expect(await isUnreachable({ "MX acme.com": [`0 ${PLACEHOLDER}`, "10 localhost"] })).toBe(true)
  })

  test("not if one address of one host is public", async () => {
    expect(await isUnreachable(at("127.0.0.1", PUBLIC))).toBe(false)
    expect(await isUnreachable({ ...at("127.0.0.1"), "AAAA a.mx.net": ["2a01:4f8::1"] })).toBe(false)
    for (const last of [`30 ${SUITE_A}`, `30 ${PUBLIC}`, "30 c.mx.net"])
      expect(await isUnreachable({ "MX acme.com": ["10 localhost", "20 10.0.0.1", last] })).toBe(false)
  })

  test("if every one of many mail hosts is denied, as long as there are questions left", async () => {
    const denied = (host: string) => ({ [`* ${host}`]: "no_name" as const })
    for (const count of [HOSTS_RESOLVED_MIN, HOSTS_RESOLVED_MIN + 1, HOST_QUESTIONS_MAX])
      expect([count, await isUnreachable(withHosts(count, denied))]).toEqual([count, true])
    const more = await probe(withHosts(HOST_QUESTIONS_MAX + 1, denied))
    expect([more.isUnreachable, more.questions.length]).toEqual([false, HOST_QUESTIONS_MAX])
  })

  test("not if the last of many mail hosts has a public address", async () => {
    const last = `mx${HOST_QUESTIONS_MAX - 1}.acme.com`
    const records = withHosts(HOST_QUESTIONS_MAX, host => ({ [`* ${host}`]: host === last ? [PUBLIC] : "no_name" }))
    expect(await isUnreachable(records)).toBe(false)
  })

  test("not if a question failed, which ends the search after a few hosts", async () => {
    expect(await isUnreachable({ ...at("127.0.0.1"), "AAAA a.mx.net": "timed_out" })).toBe(false)
    const failing = withHosts(HOST_QUESTIONS_MAX, host => ({
      [`* ${host}`]: host === "mx0.acme.com" ? "timed_out" : "no_name",
    }))
    const { isUnreachable: found, hosts } = await probe(failing)
    expect([found, hosts.length]).toEqual([false, HOSTS_RESOLVED_MIN])
  })

  test("if it has no mail host and no address that is public, or MX records of which none is a host", async () => {
    const special = ["127.0.0.1", "10.1.2.3", "192.0.2.1", "169.254.7.7", "0.0.0.0"]
    for (const address of special)
      expect(await probe({ "A acme.com": [address] })).toMatchObject({ delivery: "none", hasAddress: false })
    expect(await probe({ "A acme.com": special, "AAAA acme.com": ["::1"] })).toMatchObject({ delivery: "none" })
    expect(await probe({ "A acme.com": ["127.0.0.1", PUBLIC] })).toMatchObject({ delivery: "implicit" })
    expect(await probe({ "A acme.com": special, "AAAA acme.com": ["2a01:4f8::1"] })).toMatchObject({
      delivery: "implicit",
      hasAddress: true,
    })
    expect(await probe({ "MX acme.com": ["10 <a.mx.net>"], "A acme.com": [PUBLIC] })).toMatchObject({
      delivery: "none",
      hasAddress: true,
      mx: [],
      questions: [],
    })
  })

  test("as to mail hosts, but by a null MX", async () => {
    expect(await isUnreachable({ "MX acme.com": ["0 ."] })).toBe(false)
  })
})

describe("an address that serves disposable domains", () => {
  test("shows the operator, whatever its host is called", async () => {
    const operatedBy = async (records: ZoneRecords) => (await probe(records)).operatedBy
    expect(await operatedBy({ "MX acme.com": ["10 mx.acme.com"], "A mx.acme.com": [DISPOSABLE] })).toBe("disposable")
    expect(await operatedBy({ "MX acme.com": ["10 acme.com"], "A acme.com": [PUBLIC, DISPOSABLE] })).toBe("disposable")
    expect(await operatedBy({ "MX acme.com": [`10 ${DISPOSABLE}`] })).toBe("disposable")
    expect(await operatedBy({ "A acme.com": [DISPOSABLE] })).toBe("disposable")
    expect(await operatedBy({ "MX acme.com": [`5 ${SUITE_A}`, "10 mx.acme.com"], "A mx.acme.com": [DISPOSABLE] })).toBe(
      "disposable",
    )
    expect(await operatedBy({ "MX acme.com": ["10 mx.acme.com"], "A mx.acme.com": [PUBLIC] })).toBeNull()
    expect(await operatedBy({ "MX acme.com": ["10 mx.acme.com"], "A acme.com": [DISPOSABLE] })).toBeNull()
    expect(await operatedBy({ "MX acme.com": [`10 ${SUITE_A}`], "A acme.com": [DISPOSABLE] })).toBe("suite_a")
  })

  test("is written in its canonical form and once, or the table is refused", () => {
    expect(parseDisposableAddresses("# x\n1.1.1.1\n2a01:4f8::1\n").size).toBe(2)
    for (const text of ["1.1.1.1\n1.1.1.1\n", "10.0.0.1\n", "2A01:4f8::1\n", "host.com\n"])
      expect(() => parseDisposableAddresses(text)).toThrow()
  })
})

test("whatever the hosts answer, their questions and those of a long SPF record stay within their bounds", async () => {
  const answer = fc.constantFrom(
    "timed_out",
    "no_data",
    "no_name",
    ["127.0.0.1"],
    ["10.0.0.1", PUBLIC],
  ) as fc.Arbitrary<ZoneRecords[string]>
  const row = fc.record({ a: answer, aaaa: answer })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), fc.boolean(), async (rows, isForeign) => {
      const { ask, requests } = zone({
        "MX acme.com": rows.map((_, at) => `${at} h${at}.${isForeign ? "mx.net" : "acme.com"}`),
        "TXT _dmarc.acme.com": ["v=DMARC1; p=none"],
        "TXT acme.com": [`v=spf1 ${Array.from({ length: 10 }, (_, at) => `include:s${at}.acme.com`).join(" ")} -all`],
        ...Object.fromEntries(
          rows.flatMap(({ a, aaaa }, at) => {
            const host = `h${at}.${isForeign ? "mx.net" : "acme.com"}`
            return [
              [`A ${host}`, a],
              [`AAAA ${host}`, aaaa],
            ] as const
          }),
        ),
      })
      const { isUnreachable: found } = await probe({}, ask)
      const ofHosts = requests.filter(each => /^A+ h\d/.test(each))
      expect(requests.length).toBeLessThanOrEqual(QUESTIONS_MAX)
      expect(ofHosts.length).toBeLessThanOrEqual(HOST_QUESTIONS_MAX)
      expect(ofHosts.length).toBeGreaterThan(0)
      if (rows.some(({ a, aaaa }) => a === "timed_out" && aaaa === "timed_out")) expect(found).toBe(false)
    }),
    { numRuns: 300 },
  )
})
