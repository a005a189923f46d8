import { expect, test } from "bun:test"
import { join } from "node:path"
import { Deadline } from "../../../src/base/concurrency.ts"
import { type Connect, type ConnectTarget, socketConnect } from "../../../src/base/connect.ts"
import type { CachingResolver } from "../../../src/check/dns/dns-types.ts"
import {
  createGuardedFetch,
  GUARDED_FETCH_BOUNDS,
  type GuardedFetchResult,
} from "../../../src/check/fetch/guarded-fetch.ts"
import { bounded } from "../../support/bounded.ts"
import { type Hosts, type HostWeb, hostWeb, httpAnswer, redirectTo } from "../../support/host-web.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { createFakeTime, type FakeTime } from "../../support/time.ts"
import { type ZoneRecords, zone } from "../../support/zone.ts"

const HOST = "93.184.216.34"
const OTHER = "93.184.216.35"
const HOST_V6 = "2606:2800:220:1::1946"
const DNS: ZoneRecords = { "A acme.com": [HOST], "A other.com": [OTHER] }
const AGENT = "mailkind/1.0.0 (+https://mailkind.example/docs)"
const page = httpAnswer("<p>here")

type Told = {
  readonly web: HostWeb
  readonly time: FakeTime
  readonly fetch: (url: string, budgetMs?: number) => Promise<GuardedFetchResult>
}

function fetching(hosts: Hosts, dns: ZoneRecords | CachingResolver = DNS): Told {
  const time = createFakeTime()
  const web = hostWeb(hosts)
  const resolver = typeof dns === "function" ? dns : zone(dns).ask
  const fetch = createGuardedFetch({ resolver, connect: web.connect, setTimer: time.later, userAgent: AGENT })
  return {
    web,
    time,
    fetch: async (url, budgetMs = 60_000) => {
      const deadline = new Deadline(time.later, budgetMs)
      return await fetch(url, deadline).finally(() => deadline.cancel())
    },
  }
}

const causeOf = (fetched: GuardedFetchResult): string =>
  fetched.known ? `status ${fetched.value.status}` : fetched.cause

test("the connection goes to the address that was checked, with the name", async () => {
  const { web, fetch } = fetching({ [`${HOST}:443`]: page })
  const fetched = await fetch("https://ACME.com./a%20b?c=d#e")
  expect(fetched).toEqual({
    known: true,
    redirectChain: ["https://acme.com./a%20b?c=d"],
    value: {
      status: 200,
      contentType: "text/html; charset=utf-8",
      body: Buffer.from("<p>here"),
      isTruncated: false,
      isDowngraded: false,
    },
  })
  expect(web.attempts).toEqual([{ address: HOST, port: 443, tlsName: "acme.com" }])
})

test("a request has only its host and our user agent", async () => {
  const { web, fetch } = fetching({ [`${HOST}:80`]: page, [`${HOST}:443`]: page })
  await fetch("http://acme.com/")
  await fetch("http://acme.com:443/")
  expect(web.requests).toEqual(
    ["acme.com", "acme.com:443"].map(
      host =>
        `GET / HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${AGENT}\r\n` +
        "Accept: text/html, application/xhtml+xml;q=0.9, */*;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: close\r\n\r\n",
    ),
  )
})

test("a name is resolved once, and the connection uses that address", async () => {
  const { ask, requests: queries } = zone(DNS)
  const { fetch } = fetching({ [`${HOST}:80`]: page }, ask)
  await fetch("http://acme.com/")
  expect(queries).toEqual(["A acme.com", "AAAA acme.com"])
})

test("a name whose addresses change is checked again at each redirect", async () => {
  const records: Record<string, string[]> = { "A acme.com": [HOST] }
  const { web, fetch } = fetching(
    {
      [`${HOST}:80`]: () => {
        records["A acme.com"] = ["127.0.0.1"]
        return redirectTo("/again")()
      },
    },
    records,
  )
  expect(causeOf(await fetch("http://acme.com/"))).toBe("not_public")
  expect(web.attempts.map(({ address }) => address)).toEqual([HOST])
})

test("three redirects are followed, and no fourth", async () => {
  const steps = (last: number) => (request: string) => {
    const at = Number(/^GET \/(\d*)/.exec(request)?.[1])
    return at === last ? page() : redirectTo(`/${at + 1}`)()
  }
  const three = fetching({ [`${HOST}:80`]: steps(3) })
  const fetched = await three.fetch("http://acme.com/")
  expect([causeOf(fetched), fetched.redirectChain]).toEqual([
    "status 200",
    ["http://acme.com/", "http://acme.com/1", "http://acme.com/2", "http://acme.com/3"],
  ])
  const four = fetching({ [`${HOST}:80`]: steps(4) })
  expect(causeOf(await four.fetch("http://acme.com/"))).toBe("too_many_redirects")
  expect(four.web.attempts).toHaveLength(4)
})

test("a redirect to http is followed and reported, even if another leads back", async () => {
  const { fetch } = fetching({
    [`${HOST}:443`]: redirectTo("http://acme.com/"),
    [`${HOST}:80`]: redirectTo("https://other.com/"),
    [`${OTHER}:443`]: page,
  })
  const fetched = await fetch("https://acme.com/")
  expect(fetched.known && fetched.value.isDowngraded).toBe(true)
  const upgraded = fetching({ [`${HOST}:80`]: redirectTo("https://other.com/"), [`${OTHER}:443`]: page })
  const other = await upgraded.fetch("http://acme.com/")
  expect(other.known && !other.value.isDowngraded).toBe(true)
})

test("a refused redirect is the last URL of the chain", async () => {
  const { fetch } = fetching({ [`${HOST}:80`]: redirectTo("http://169.254.169.254/latest") })
  const { redirectChain } = await fetch("http://acme.com/")
  expect(redirectChain).toEqual(["http://acme.com/", "http://169.254.169.254/latest"])
})

test("no cookie is sent after a redirect", async () => {
  const { web, fetch } = fetching({
    [`${HOST}:80`]: httpAnswer("", { status: 302, headers: { location: "https://acme.com/", "set-cookie": "a=b" } }),
    [`${HOST}:443`]: page,
  })
  await fetch("http://acme.com/")
  expect(web.requests.some(request => /cookie/i.test(request))).toBe(false)
})

test("IPv4 comes first, a second address follows a failure, and no third", async () => {
  const dns = { "A acme.com": [HOST], "AAAA acme.com": [HOST_V6, "2606:2800:220:1::2"] }
  const second = fetching({ [`${HOST}:80`]: "refused", [`[${HOST_V6}]:80`]: page }, dns)
  expect(causeOf(await second.fetch("http://acme.com/"))).toBe("status 200")
  expect(second.web.attempts.map(({ address }) => address)).toEqual([HOST, HOST_V6])
  const none = fetching({}, dns)
  expect(causeOf(await none.fetch("http://acme.com/"))).toBe("unreachable")
  expect(none.web.attempts).toHaveLength(GUARDED_FETCH_BOUNDS.addressesMax)
})

test("an address that is silent is given up for the next one in time", async () => {
  const dns = { "A acme.com": [HOST, OTHER] }
  const { web, time, fetch } = fetching({ [`${HOST}:80`]: "hangs", [`${OTHER}:80`]: page }, dns)
  const fetched = fetch("http://acme.com/")
  await time.tick(GUARDED_FETCH_BOUNDS.connectMs - 1)
  expect(web.attempts).toHaveLength(1)
  await time.tick(1)
  expect(causeOf(await fetched)).toBe("status 200")
})

test("a silent or slow host times out, and its connection ends", async () => {
  const silent = fetching({ [`${HOST}:80`]: "silent" })
  const dripping = fetching({
    [`${HOST}:80`]: async function* () {
      yield "HTTP/1.1 200 OK\r\n\r\n"
      for (;;) {
        await new Promise<void>(resolve => void dripping.time.later(100, resolve))
        yield "x"
      }
    },
  })
  for (const { web, time, fetch } of [silent, dripping]) {
    let outcome = "under way"
    void fetch("http://acme.com/").then(fetched => {
      outcome = causeOf(fetched)
    })
    await time.tick(GUARDED_FETCH_BOUNDS.timeoutMs - 1)
    expect([outcome, web.openCount()]).toEqual(["under way", 1])
    await time.tick(1)
    expect([outcome, web.openCount()]).toEqual(["timed_out", 0])
  }
})

test("redirects share one timeout", async () => {
  const { time, fetch } = fetching({
    [`${HOST}:80`]: async function* () {
      await new Promise<void>(resolve => void time.later(2000, resolve))
      yield* redirectTo("/")()
    },
  })
  const fetched = fetch("http://acme.com/")
  await time.tick(GUARDED_FETCH_BOUNDS.timeoutMs)
  expect(causeOf(await fetched)).toBe("timed_out")
})

test("the deadline of the caller ends a fetch earlier", async () => {
  const { web, time, fetch } = fetching({ [`${HOST}:80`]: "silent" })
  const fetched = fetch("http://acme.com/", 300)
  await time.tick(300)
  expect([causeOf(await fetched), web.openCount()]).toEqual(["timed_out", 0])
})

test("no connection is opened if DNS answers too late", async () => {
  const slow = zone(DNS)
  const { web, time, fetch } = fetching({ [`${HOST}:80`]: page }, async question => {
    await new Promise<void>(resolve => void time.later(6000, resolve))
    return await slow.ask(question)
  })
  const fetched = fetch("http://acme.com/")
  await time.tick(10_000)
  expect([causeOf(await fetched), web.attempts]).toEqual(["timed_out", []])
})

test("it never rejects, whatever fails below it", async () => {
  const broken = fetching({}, () => {
    throw new TypeError("of our own")
  })
  expect(causeOf(await broken.fetch("http://acme.com/"))).toBe("failed")
  const web = fetching({
    [`${HOST}:80`]: () => {
      throw new TypeError("of our own")
    },
  })
  expect(causeOf(await web.fetch("http://acme.com/"))).toBe("broken_off")
})

test("over real sockets the connection to a public address carries the name, and its certificate must be the name's", async () => {
  const certificates = join(import.meta.dir, "../../base/certificates")
  const [authority, cert, key] = await Promise.all(
    ["authority.pem", "acme.pem", "acme.key"].map(name => Bun.file(join(certificates, name)).text()),
  )
  const hosts: (string | null)[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: cert ?? "", key: key ?? "" },
    fetch: request => {
      hosts.push(request.headers.get("host"))
      return new Response("<p>over TLS")
    },
  })
  onTestEnd(() => server.stop(true))
  const queries: ConnectTarget[] = []
  const real = socketConnect(authority)
  // Connections go to loopback instead of the public address; all else is real.
  const connect: Connect = (endpoint, signal) => {
    queries.push(endpoint)
    return real({ ...endpoint, address: "127.0.0.1", port: server.port ?? 0 }, signal)
  }
  const { later: setTimer } = createFakeTime()
  const { ask: resolver } = zone({ "A acme-holdings.com": [HOST], "A other.com": [HOST] })
  const fetch = createGuardedFetch({ resolver, connect, setTimer, userAgent: AGENT })
  const own = await bounded(fetch("https://acme-holdings.com/", new Deadline(setTimer, 5000)), () => "a fetch over TLS")
  expect(own.known && Buffer.from(own.value.body).toString()).toBe("<p>over TLS")
  const other = await bounded(fetch("https://other.com/", new Deadline(setTimer, 5000)), () => "a fetch over TLS")
  expect(causeOf(other)).toBe("untrusted")
  expect(hosts).toEqual(["acme-holdings.com"])
  expect(queries.map(({ address, port, tlsName }) => [address, port, tlsName])).toEqual([
    [HOST, 443, "acme-holdings.com"],
    [HOST, 443, "other.com"],
  ])
})
