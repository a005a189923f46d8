import { expect, setDefaultTimeout, test } from "bun:test"
import { TypeCompiler } from "@sinclair/typebox/compiler"
import { known, unknown } from "../../src/base/finding.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../src/check/age/age-probe.ts"
import { bundledBootstrap } from "../../src/check/age/rdap-bootstrap.ts"
import { createDeepProbe } from "../../src/check/deep-evidence.ts"
import type { CachingResolver } from "../../src/check/dns/dns-types.ts"
import { DnsCache } from "../../src/check/dns/resolver/dns-cache.ts"
import { DnsServers, NO_GUARDS } from "../../src/check/dns/resolver/resolution.ts"
import { cachingAsk, promising } from "../../src/check/dns/resolver/resolver-chain.ts"
import { parseReply } from "../../src/check/dns/wire/packet.ts"
import type { OnDefect } from "../../src/check/evidence-defects.ts"
import { HomepageCache } from "../../src/check/homepage/homepage-cache.ts"
import type { HomepageProbeResult } from "../../src/check/homepage/homepage-probe.ts"
import { LEARNED_BOUNDS, LearnedHosts } from "../../src/check/learned/learned-hosts.ts"
import { createLearningProbe } from "../../src/check/learned/learning-probe.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import { createNetworkProbe } from "../../src/check/network-evidence.ts"
import { identityUrls } from "../../src/check/tenant/identity-endpoint.ts"
import { TENANT_PROBE_BOUNDS, TenantProbe } from "../../src/check/tenant/tenant-probe.ts"
import type { Reason } from "../../src/contract/reasons.ts"
import { CheckResult } from "../../src/contract/result-schema.ts"
import { Dice } from "../fuzz/dice.ts"
import { UNLIKE, zoneCheck, zoneReply } from "../fuzz/zones.ts"
import { lists, testApp } from "../support/app.ts"
import { exchangeOf } from "../support/dns-exchange.ts"
import { BUDGET_MS } from "../support/fake-network.ts"
import { identityWeb } from "../support/identity-server.ts"
import type { FakeTime } from "../support/time.ts"
import { asking } from "../support/zone.ts"

/** So many in `verify`; `ZONES=200000 bun test test/property/zones.test.ts` makes more. */
const ZONES = Number(process.env["ZONES"] ?? 600)
setDefaultTimeout(300_000 + 20 * ZONES)
const SEED = 1
const ID = 7

const result = TypeCompiler.Compile(CheckResult)

/** What a source of evidence does instead of its work. */
const DEFECTS = ["throws", "rejects", "is late"] as const
/** Long after every deadline. */
const LATE_MS = 20_000
const SOURCES = ["resolver", "lists", "tenant", "age", "homepage"] as const
type Source = (typeof SOURCES)[number]

/** The defect of each source now; absent: it works. */
const defects: { [S in Source]?: (typeof DEFECTS)[number] } = {}

/** Does the work of a source, or what its defect makes of it. */
function work<T>(source: Source, call: () => T): T | Promise<never> {
  if (defects[source] === "throws") throw new TypeError("jane@defect.com")
  if (defects[source] === "rejects") return Promise.reject(new TypeError("jane@defect.com"))
  if (defects[source] === undefined) return call()
  return new Promise((_, reject) => void time.later(LATE_MS, () => reject(new TypeError("jane@defect.com"))))
}

/** Replies of the made-up world, read from packets. */
const exchange = exchangeOf(async question => {
  const bytes = zoneReply(SEED, ID, question.name, question.type)
  if (bytes === null) return { kind: "silent" }
  const reply = parseReply(bytes, ID, question)
  if (reply.kind === "foreign") return { kind: "silent" }
  return reply.kind === "truncated" ? { kind: "failed" } : reply
})

/** All look-ups of a check as they are wired for production, over that world. */
function outside(time: FakeTime, onDefect: OnDefect) {
  const { clock, later: setTimer, stopwatch } = time
  const servers = new DnsServers([exchange], {
    timeoutMs: 1500,
    attemptsMax: 3,
    setTimer,
    stopwatch,
    onDefect: error => onDefect("dns", error),
  })
  const resolver = promising(cachingAsk(new DnsCache(clock), servers, NO_GUARDS))
  const faulty: CachingResolver = question => work("resolver", () => resolver(question))
  const mail = createLearningProbe(createMailProbe({ ask: asking(faulty), clock, needsSuiteProof: () => true }), {
    learnedHosts: new LearnedHosts(LEARNED_BOUNDS),
    matchLists: (domain, registrable) => {
      if (defects.lists !== undefined) throw new TypeError("jane@defect.com")
      return lists.pack.match(domain, registrable)
    },
    clock,
    onDefect,
  })
  const { web: fetchUrl } = identityWeb({})
  const tenant = new TenantProbe({ fetchUrl, urls: identityUrls(null), clock, setTimer }, TENANT_PROBE_BOUNDS)
  return createNetworkProbe({
    probeMail: ({ domain, organisationalDomain, asked }, deadline) =>
      mail(domain, organisationalDomain, deadline, asked),
    probeTenant: ({ domain, organisationalDomain, callerId }, cloud) =>
      work("tenant", () => tenant.lookup(domain, organisationalDomain, cloud, callerId)),
    isUnavailable: () => false,
    onDefect,
    clock,
    setTimer,
    nextTick: queueMicrotask,
    timeoutMs: BUDGET_MS,
    queryTimeoutMs: BUDGET_MS / 2,
  })
}

function deep({ clock, later: setTimer }: FakeTime, onDefect: OnDefect) {
  const bootstrap = bundledBootstrap()
  const page: HomepageProbeResult = {
    homepage: known("found"),
    url: null,
    movedTo: null,
    parkingSignal: null,
    isDowngraded: false,
    wasFetched: true,
  }
  const ageProbe = createAgeProbe(
    {
      lookupRegistration: async () =>
        await work("age", () => ({ registration: unknown("unavailable"), wasQueried: true }) as const),
      bootstrap: { current: () => bootstrap, ready: async () => bootstrap },
      store: {
        read: async domain =>
          (await work("age", () => null)) ??
          (domain.length % 2 === 0 ? null : { registeredAtMs: 0, checkedAtMs: clock() }),
        write: () => undefined,
      },
      clock,
      onError: () => undefined,
    },
    AGE_PROBE_BOUNDS,
  )
  const homepageCache = new HomepageCache({
    probe: async () => await work("homepage", () => page),
    store: null,
    clock,
    onError: () => undefined,
  })
  return createDeepProbe({ ageProbe, homepageCache, isUnavailable: () => false, onDefect, clock, setTimer })
}

const { app, key, logged, time } = await testApp({ outside, deep })

/** The answer to a check. What is late is waited for until its deadline. */
async function answered(body: Readonly<Record<string, string | boolean>>): Promise<{ status: number; body: unknown }> {
  const headers = { "Content-Type": "application/json", "X-API-Key": key }
  const request = new Request("http://localhost/v1/check", { method: "POST", headers, body: JSON.stringify(body) })
  let isDone = false
  const answer = Promise.resolve(app(request)).finally(() => {
    isDone = true
  })
  for (let turn = 0; turn < 20 && !isDone; turn++) await new Promise(resolve => setImmediate(resolve))
  while (!isDone) await time.tick(BUDGET_MS)
  const response = await answer
  return { status: response.status, body: await response.json() }
}

/** What is wrong with an answer; null: nothing. */
function wrongWith({ status, body }: { readonly status: number; readonly body: unknown }): string | null {
  if (status !== 200) return `${status} ${JSON.stringify(body)}`
  return result.Check(body) ? null : `${JSON.stringify(result.Errors(body).First())} in ${JSON.stringify(body)}`
}

const REACHED: readonly Reason[] = [
  ...([
    "mx_found",
    "implicit_mx",
    "no_mail_host",
    "null_mx",
    "domain_not_found",
    "disposable_mx",
    "suite_a_mail",
  ] as const),
  ...(["suite_b_mail", "dmarc_enforced", "dns_unavailable", "resolves"] as const),
]

test("whatever a domain publishes, a check of it is a result of the schema, the same when it is cached, and nothing fails or is logged", async () => {
  const wrong: string[] = []
  const reached = new Set<Reason>()
  for (let number = 0; number < ZONES && wrong.length < 10; number++) {
    const body = zoneCheck(new Dice(SEED, number), number)
    const [first, again] = [await answered(body), await answered(body)]
    const fault = wrongWith(first) ?? wrongWith(again)
    if (fault !== null) wrong.push(`${JSON.stringify(body)}: ${fault}`)
    else if (!Bun.deepEquals({ ...(first.body as object), ...UNLIKE }, { ...(again.body as object), ...UNLIKE }))
      wrong.push(`${JSON.stringify(body)}: ${JSON.stringify(first.body)} and then ${JSON.stringify(again.body)}`)
    if (fault === null) for (const reason of (first.body as CheckResult).reasons) reached.add(reason)
  }
  expect(wrong).toEqual([])
  expect(logged).toEqual([])
  // The zones reach what they are made for.
  expect(REACHED.filter(reason => !reached.has(reason))).toEqual([])
})

test("whatever source of evidence throws, rejects or is late, a check is a result of the schema, and the log names no address", async () => {
  const wrong: string[] = []
  for (let number = 0; number < ZONES / 5 && wrong.length < 10; number++) {
    const dice = new Dice(SEED + 1, number)
    for (const source of SOURCES) if (dice.once(2)) defects[source] = dice.pick(DEFECTS)
    const body = { ...zoneCheck(dice, ZONES + number), deep: true, workspace: true }
    const fault = wrongWith(await answered(body))
    if (fault !== null) wrong.push(`${JSON.stringify(body)} with ${JSON.stringify(defects)}: ${fault}`)
    for (const source of SOURCES) delete defects[source]
    if (number % 4 === 0) await time.tick(LATE_MS)
  }
  expect(wrong).toEqual([])
  expect(new Set(logged.map(({ message }) => message))).toEqual(new Set(["evidence was not read"]))
  expect(new Set(logged.map(({ fields }) => fields["fault"]))).toEqual(
    new Set(["defect_dns", "defect_learned", "defect_tenant", "defect_deep"]),
  )
  expect(JSON.stringify(logged)).not.toMatch(/jane|defect\.com|zone\d/)
})
