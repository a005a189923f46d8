import { describe, expect, test } from "bun:test"
import { Deadline } from "../../../src/base/concurrency.ts"
import { unknown } from "../../../src/base/finding.ts"
import { DAY_MS } from "../../../src/base/time.ts"
import { hashDomain, LEARNED_BOUNDS, LearnedHosts } from "../../../src/check/learned/learned-hosts.ts"
import { ADDRESSES_LEARNED_MAX, createLearningProbe, isSampled } from "../../../src/check/learned/learning-probe.ts"
import { ListMatch, matchInSet } from "../../../src/check/lists/list-match.ts"
import { SET_BITS, SET_NAMES, type SetName, STRENGTH_BITS } from "../../../src/check/lists/sets.ts"
import { createMailProbe } from "../../../src/check/mail/mail-probe.ts"
import { type MailProviderKind, providerOfMailHost } from "../../../src/check/mail/mail-providers.ts"
import type { MailEvidence } from "../../../src/check/verdict/evidence.ts"
import { ALL_QUESTIONS, QUESTIONS } from "../../../src/check/verdict/evidence-need.ts"
import { createFakeTime } from "../../support/time.ts"
import { asking, type ZoneRecords, zone } from "../../support/zone.ts"

const HOST = "mx1.throw-away.com"

/** A public address of the host alone, in a network of its own. */
const addressOf = (host: string): string => {
  const hash = hashDomain(host)
  return `45.${hash % 250}.${Math.floor(hash / 250) % 250}.7`
}

/** A learning probe with fake records and lists, and a stopped clock. */
function learning(
  lists: Readonly<Record<string, SetName>> = {},
  matchFirst: (registrable: string) => ListMatch | null = () => null,
  learnsNothing = false,
) {
  const time = createFakeTime()
  const records: ZoneRecords = {}
  const { ask: resolver } = zone(records, 300, time.clock)
  const learnedHosts = new LearnedHosts(LEARNED_BOUNDS)
  const from = { isCached: false }
  const matchLists = (domain: string, registrable: string): ListMatch => {
    if (domain.startsWith("listed")) return matchInSet("disposable")
    return matchFirst(registrable) ?? matchInSet(lists[domain] ?? lists[registrable] ?? null)
  }
  const request = createMailProbe({ ask: asking(resolver), clock: time.clock })
  const probe = createLearningProbe(async (...of) => ({ ...(await request(...of)), ...from }), {
    learnedHosts: learnsNothing ? null : learnedHosts,
    matchLists,
    clock: time.clock,
  })
  /** The operator of the mail of a domain with these MX records. */
  const runBy = async (
    domain: string,
    mx: readonly string[],
    organisational = domain,
  ): Promise<MailEvidence["operatedBy"]> => {
    records[`MX ${domain}`] = mx
    for (const host of mx.map(each => each.split(" ")[1] ?? ""))
      if (records[`A ${host}`] === undefined) records[`A ${host}`] = [addressOf(host)]
    const { mail } = await probe(domain, organisational, new Deadline(time.later, 1000))
    if (!mail.known) throw new Error(`${domain} was not told`)
    return mail.value.operatedBy
  }
  /** Points so many listed domains at a host. */
  const point = async (host: string, count: number, prefix = "listed"): Promise<void> => {
    for (let at = 0; at < count; at++) await runBy(`${prefix}${at}.com`, [`10 ${host}`])
  }
  return { time, records, hosts: learnedHosts, from, probe, runBy, point }
}

test("a host is learned for the sixth domain after five listed ones, and no longer after the seventh", async () => {
  const { runBy, point } = learning()
  await point(HOST, 5)
  expect(await runBy("sixth.com", [`10 ${HOST}`])).toBe("learned_disposable")
  expect(await runBy("sixth.com", [`10 ${HOST}`])).toBe("learned_disposable")
  expect(await runBy("seventh.com", [`10 ${HOST}`])).toBeNull()
  expect(await runBy("sixth.com", [`10 ${HOST}`])).toBeNull()
})

test("four listed domains do not make a learned host", async () => {
  const { runBy, point } = learning()
  await point(HOST, 4)
  expect(await runBy("fifth.com", [`10 ${HOST}`])).toBeNull()
})

test("domains of numbered servers of one host are counted together", async () => {
  const { runBy } = learning()
  for (let at = 0; at < 5; at++) await runBy(`listed${at}.com`, [`10 mx${at}.throw-away.com`])
  expect(await runBy("sixth.com", ["10 mail-in-9.throw-away.com"])).toBe("learned_disposable")
})

test("subdomains of one registrable domain count once", async () => {
  const { runBy, hosts } = learning()
  for (let at = 0; at < 9; at++) await runBy(`listed${at}.listed.com`, [`10 ${HOST}`], "listed.com")
  expect(hosts.size).toEqual({ places: 2, observations: 1 })
  expect(await runBy("other.com", [`10 ${HOST}`])).toBeNull()
})

test("the listing of a name below a registrable domain says nothing of it", async () => {
  const { runBy, hosts } = learning()
  for (let at = 0; at < 9; at++) await runBy(`listed.acme${at}.com`, [`10 ${HOST}`], `acme${at}.com`)
  expect(hosts.size).toEqual({ places: 0, observations: 0 })
  expect(await runBy("other.com", [`10 ${HOST}`])).toBeNull()
})

test("a cached result is judged, but not counted", async () => {
  const { runBy, point, from, hosts } = learning()
  await point(HOST, 5)
  from.isCached = true
  expect(await runBy("sixth.com", [`10 ${HOST}`])).toBe("learned_disposable")
  await point("mx.other.com", 5)
  expect(hosts.size.observations).toBe(5)
})

test("a mail host without observations for ninety days is no longer learned", async () => {
  const { runBy, point, time } = learning()
  await point(HOST, 5)
  await time.tick(90 * DAY_MS)
  expect(await runBy("sixth.com", [`10 ${HOST}`])).toBe("learned_disposable")
  await time.tick(DAY_MS)
  expect(await runBy("seventh.com", [`10 ${HOST}`])).toBeNull()
})

test("only the most preferred host is observed and judged", async () => {
  const { runBy } = learning()
  for (let at = 0; at < 5; at++) await runBy(`listed${at}.com`, ["10 mx.first.com", "20 mx.second.com"])
  expect(await runBy("sixth.com", ["5 mx.other.com", "10 mx.first.com"])).toBeNull()
  expect(await runBy("seventh.com", ["10 mx.second.com"])).toBeNull()
  expect(await runBy("eighth.com", ["10 mx.first.com"])).toBe("learned_disposable")
})

test("a host after that of a known provider is not observed, but one after a placeholder is", async () => {
  const learned = learning()
  const { runBy } = learned
  const behind = async (first: string, prefix: string): Promise<void> => {
    for (let at = 0; at < 5; at++) await runBy(`${prefix}${at}.com`, [`0 ${first}`, `10 ${HOST}`])
  }
  const { hosts } = learned
  await behind(HOSTS_OF_KINDS.forwarder, "listed-one-")
  expect(hosts.size.observations).toBe(0)
  await behind(HOSTS_OF_KINDS.placeholder, "listed-two-")
  expect(await runBy("acme.com", [`10 ${HOST}`])).toBe("learned_disposable")
  expect(await runBy("acme.com", [`0 ${HOSTS_OF_KINDS.forwarder}`, `10 ${HOST}`])).toBe("forwarder")
})

test("a host under the domain's own name counts by its address alone", async () => {
  const { runBy, hosts, records } = learning()
  for (const name of ["listed0.com", "listed1.com", "listed2.com", "listed3.com", "listed4.com", "sixth.com"])
    records[`A mx.${name}`] = ["45.1.2.3"]
  for (let at = 0; at < 5; at++) await runBy(`listed${at}.com`, [`10 mx.listed${at}.com`])
  expect(hosts.size).toEqual({ places: 1, observations: 5 })
  expect(await runBy("sixth.com", ["10 mx.sixth.com"])).toBe("learned_disposable")
  expect(await runBy("other.com", ["10 mx.other.com"])).toBeNull()
})

test("listed domains that point at a host by its name say nothing against the domain whose name it bears, if its address differs", async () => {
  const { runBy, records } = learning()
  for (let at = 0; at < 5; at++) {
    records["A mx.victim.com"] = ["45.1.2.3"]
    await runBy(`listed${at}.com`, ["10 mx.victim.com"])
  }
  records["A mx.victim.com"] = ["45.9.9.9"]
  expect(await runBy("victim.com", ["10 mx.victim.com"])).toBeNull()
})

test("an address is learned, whatever the hosts there are called, and an IPv6 address too", async () => {
  for (const [type, address] of [
    ["A", "45.1.2.3"],
    ["AAAA", "2a01:4f8:1:2::3"],
  ] as const) {
    const { runBy, records } = learning()
    const names = [...Array.from({ length: 5 }, (_, at) => `listed${at}.com`), "sixth.com"]
    for (const [at, name] of names.entries()) {
      if (type === "AAAA") records[`A mx.host${at}.net`] = "no_data"
      records[`${type} mx.host${at}.net`] = [address]
      expect(await runBy(name, [`10 mx.host${at}.net`])).toBe(at === 5 ? "learned_disposable" : null)
    }
  }
})

test("an address of a shared network is never learned, nor the host that leads there", async () => {
  const { runBy, records, hosts } = learning()
  for (const address of ["172.66.0.1", "142.250.1.27", "2606:4700::1"]) {
    records["A mx.vanity.com"] = [address]
    records["AAAA mx.vanity.com"] = [address]
    for (let at = 0; at < 20; at++) await runBy(`listed${at}.com`, ["10 mx.vanity.com"])
    expect(await runBy("acme.com", ["10 mx.vanity.com"])).toBeNull()
  }
  expect(hosts.size.observations).toBe(0)
})

test("an honest domain that was seen before the listed ones is not judged by them", async () => {
  const { runBy, point } = learning()
  expect(await runBy("honest.com", [`10 ${HOST}`])).toBeNull()
  await point(HOST, 18)
  expect(await runBy("honest.com", [`10 ${HOST}`])).toBeNull()
  expect(await runBy("new.com", [`10 ${HOST}`])).toBeNull()
})

test("a host whose five hundred addresses change at each question costs a bounded memory", async () => {
  const { runBy, records, hosts } = learning()
  for (let round = 0; round < 20; round++) {
    records["A mx.rotating.net"] = Array.from({ length: 500 }, (_, at) => `45.${round}.${at % 2}.${Math.floor(at / 2)}`)
    await runBy(`acme${round}.com`, ["10 mx.rotating.net"])
    await runBy("other.com", ["10 mx.rotating.net"])
  }
  expect(hosts.size.observations).toBe(21)
  expect(hosts.size.places).toBeLessThanOrEqual(21 * ADDRESSES_LEARNED_MAX + 1)
})

test("five listed domains that move from host to host affect one at a time", async () => {
  const { runBy, point } = learning()
  const victims = ["mx.one.com", "mx.two.com", "mx.three.com"]
  for (const victim of victims) await point(victim, 5)
  const judged = []
  for (const victim of victims) judged.push(await runBy(`of-${victim.split(".")[1]}.net`, [`10 ${victim}`]))
  expect(judged).toEqual([null, null, "learned_disposable"])
})

test("two honest domains outweigh five listed ones that point at their host", async () => {
  const { runBy, point } = learning()
  await runBy("one.com", ["10 mx.victim.com"])
  await runBy("two.com", ["10 mx.victim.com"])
  await point("mx.victim.com", 5)
  expect(await runBy("one.com", ["10 mx.victim.com"])).toBeNull()
})

/** A mail host of each kind of known provider; null: the kind has none. */
const HOSTS_OF_KINDS = {
  suite: "aspmx.l.google.com",
  placeholder: "ms12345678.msv1.invalid.outlook.com",
  mailbox: "in1-smtp.messagingengine.com",
  consumer: "mx00.gmx.net",
  group: "gmr-smtp-in.l.google.com",
  hosting: "us2.mx1.mailhostbox.com",
  isp: "mx00.t-online.de",
  sender: "mxa.mailgun.org",
  forwarder: "mx1.improvmx.com",
  relay: "mx1.simplelogin.co",
  gateway: "mxa-001.pphosted.com",
  gateway_out: null,
  disposable_mx: "mail.mailinator.com",
  parking: "park-mx.above.com",
  agent: "mx.agentmail.to",
} as const satisfies { readonly [K in MailProviderKind]: string | null }

describe("a host of a known provider is never learned, however many listed domains it has:", () => {
  for (const [kind, host] of Object.entries(HOSTS_OF_KINDS))
    test(kind, async () => {
      if (host === null) return
      expect(providerOfMailHost(host)?.kind).toBe(kind as MailProviderKind) // a key of the table above
      const { runBy, point, hosts } = learning()
      await point(host, 20)
      expect(await runBy("acme.com", [`10 ${host}`])).not.toBe("learned_disposable")
      expect(hosts.size.observations).toBe(0)
    })
})

/** Anyone can have a host under a free suffix, so it proves nothing for its hosts. */
const LEARNABLE_SETS: ReadonlySet<string> = new Set(["disposable", "free_subdomain"])

describe("a host under a listed name is learned only if the list speaks for nobody:", () => {
  for (const set of SET_NAMES)
    test(set, async () => {
      const { runBy, point } = learning({ "known-name.com": set })
      await point("mx.known-name.com", 5)
      const expected = LEARNABLE_SETS.has(set) ? "learned_disposable" : null
      expect(await runBy("acme.com", ["10 mx.known-name.com"])).toBe(expected)
    })
})

describe("a host under a disposable name", () => {
  test("shows at the first check that it serves disposable domains", async () => {
    const { runBy } = learning({ "known-name.com": "disposable" })
    expect(await runBy("acme.com", ["10 mx.known-name.com"])).toBe("learned_disposable")
    expect(await runBy("other.com", ["10 mx.unknown-name.com"])).toBeNull()
  })
  test("shows it where nothing is learned too, and at an address of a shared network", async () => {
    for (const learnsNothing of [false, true]) {
      const { runBy, records } = learning({ "known-name.com": "disposable" }, undefined, learnsNothing)
      expect(await runBy("acme.com", ["10 mx.known-name.com"])).toBe("learned_disposable")
      records["A mx1.known-name.com"] = ["172.66.0.1"]
      expect(await runBy("other.com", ["10 mx1.known-name.com"])).toBe("learned_disposable")
      expect(await runBy("third.com", ["10 mx.unknown-name.com"])).toBeNull()
    }
  })
  test("shows nothing if it is not among the most preferred", async () => {
    const { runBy } = learning({ "known-name.com": "disposable" })
    expect(await runBy("acme.com", ["10 mx.acme.com", "20 mx.known-name.com"])).toBeNull()
    expect(await runBy("tied.com", ["10 mx.tied.com", "10 mx.known-name.com"])).toBe("learned_disposable")
  })
  test("shows nothing if only aggregators call it so", async () => {
    const { runBy } = learning({}, name => (name === "known-name.com" ? DOUBTED : null))
    expect(await runBy("acme.com", ["10 mx.known-name.com"])).toBeNull()
  })
})

/** Only aggregators call the name disposable. */
const DOUBTED = new ListMatch(SET_BITS.disposable | STRENGTH_BITS.weak, "known-name.com", 0)

describe("a listed domain is judged by its host only if its list says nothing of it:", () => {
  for (const set of SET_NAMES)
    test(set, async () => {
      const { runBy, point } = learning({ "acme.com": set })
      await point(HOST, 9)
      expect(await runBy("acme.com", [`10 ${HOST}`])).toBe(set === "free_subdomain" ? "learned_disposable" : null)
    })
})

test("names of all other lists count as honest, like unlisted names", async () => {
  for (const set of SET_NAMES.filter(name => name !== "disposable")) {
    const { runBy, point } = learning({ "one.com": set, "two.com": set })
    await point(HOST, 5)
    await runBy("one.com", [`10 ${HOST}`])
    expect([set, await runBy("acme.com", [`10 ${HOST}`])]).toEqual([set, null])
  }
})

test("a domain with a detected office suite is not judged by its host", async () => {
  const { runBy, point, records } = learning()
  await point(HOST, 19)
  records["TXT suite.com"] = ["v=spf1 include:spf.protection.outlook.com -all"]
  expect(await runBy("suite.com", [`10 ${HOST}`])).not.toBe("learned_disposable")
  records["TXT plain.com"] = ["v=spf1 mx -all"]
  expect(await runBy("plain.com", [`10 ${HOST}`])).toBe("learned_disposable")
})

test("domains without a mail host in public DNS are neither counted nor judged", async () => {
  const { runBy, records, hosts } = learning()
  records["A listed0.com"] = ["192.0.2.1"]
  for (const [at, mx] of [[], ["0 ."], ["10 192.0.2.1"], ["10 localhost"]].entries())
    expect(await runBy(`listed${at}.com`, mx)).toBeNull()
  expect(hosts.size.observations).toBe(0)
})

test("a failed lookup is passed on unchanged", async () => {
  const { probe, hosts, records, time } = learning()
  records["MX listed0.com"] = "timed_out"
  const { mail } = await probe("listed0.com", "listed0.com", new Deadline(time.later, 1000))
  expect(mail).toEqual(unknown("timed_out"))
  expect(hosts.size.observations).toBe(0)
})

test("a target with colons is a name as any other, and stored observations may hold anything", async () => {
  const { runBy, hosts } = learning()
  for (const target of ["imap:q.org", "a::b.org", "https://mail.x.org", "fe80::1%eth0", "::", "[::1]", ":", "%"])
    expect(await runBy(`names-${target.length}.com`, [`10 ${target}`])).toBeNull()
  const addresses = ["::1%eth0", "a::b.org", "", ":", "%", "1.2.3"]
  hosts.load([{ domainHash: 1, host: "::1", addresses, isListed: true, seenOn: 0 }], 0)
  expect(hosts.servesDisposable("acme.com", { host: "::1", addresses }, 0)).toBe(false)
})

test("a defect in what was learned leaves the evidence of DNS as it is, and is reported", async () => {
  const defects: string[] = []
  const time = createFakeTime()
  const probe = createLearningProbe(
    createMailProbe({
      ask: asking(zone({ "MX acme.com": [`10 ${HOST}`], [`A ${HOST}`]: ["45.1.2.3"] }, 300, time.clock).ask),
      clock: time.clock,
    }),
    {
      learnedHosts: null,
      matchLists: () => {
        throw new TypeError("a defect")
      },
      clock: time.clock,
      onDefect: kind => void defects.push(kind),
    },
  )
  const { mail } = await probe("acme.com", "acme.com", new Deadline(time.later, 1000))
  expect(mail).toMatchObject({ known: true, value: { delivery: "mx", operatedBy: null } })
  expect(defects).toEqual(["learned"])
})

test("a suite behind learned mail hosts has the same questions, whether or not suites are asked about", async () => {
  for (const suiteAt of ["a", "b", "c", "d"]) {
    const { records, probe, point, time } = learning()
    await point(HOST, 6)
    const includes = ["a", "b", "c", "d"].map(name => `${name}.spf.org`)
    const hosts = ["mx1.throw-away.com", "mx2.throw-away.com", "mx3.throw-away.com"]
    records["MX acme.com"] = hosts.map((host, at) => `${at} ${host}`)
    for (const host of hosts) records[`A ${host}`] = "no_data"
    records["TXT acme.com"] = [`v=spf1 ${includes.map(name => `include:${name}`).join(" ")} -all`]
    for (const name of includes) records[`TXT ${name}`] = ["v=spf1 -all"]
    records[`TXT ${suiteAt}.spf.org`] = ["v=spf1 include:_spf.google.com -all"]
    const runBy = async (asked: number) => {
      const { mail } = await probe("acme.com", "acme.com", new Deadline(time.later, 1000), asked)
      return mail.known ? mail.value.operatedBy : mail
    }
    const all = await runBy(ALL_QUESTIONS)
    expect([suiteAt, await runBy(QUESTIONS.delivery)]).toEqual([suiteAt, all])
    expect(all).toBe(suiteAt < "c" ? null : "learned_disposable")
  }
})

test("one name in eight that the lists decide is sampled, always the same", () => {
  const names = Array.from({ length: 8000 }, (_, at) => `listed${at}.com`)
  const sampled = names.filter(isSampled)
  expect(Math.abs(sampled.length - 1000)).toBeLessThan(100)
  expect(names.filter(isSampled)).toEqual(sampled)
})
