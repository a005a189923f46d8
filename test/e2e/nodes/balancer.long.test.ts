import { expect, setDefaultTimeout, test } from "bun:test"
import { request } from "node:http"
import { HAPROXY_COMMANDS } from "../../../src/http/site/docs/inserts/operation-inserts.tsx"
import { bounded } from "../../support/bounded.ts"
import { POSTGRES_PROGRAMS } from "../../support/postgres.ts"
import { until } from "../../support/until.ts"
import { type Balancer, MISSING_BALANCER, nodeStates, startBalancer } from "./balancer.ts"
import { type ApiRequest, createCluster, type Load, reporterKeys, startLoad } from "./cluster.ts"

setDefaultTimeout(180_000)

const missing = [
  ...(MISSING_BALANCER === null ? [] : [MISSING_BALANCER]),
  ...(POSTGRES_PROGRAMS === null ? ["PostgreSQL is not installed"] : []),
]
const NAMED = missing.length === 0 ? "" : ` (skipped: ${missing.join(", ")})`

const CHECK: ApiRequest = ["POST /v1/check", { email: "jane@acme-widgets-of-nodes.com" }]
const READ: ApiRequest = ["GET /v1/usage"]
const REPORT: ApiRequest = ["POST /v1/feedback", { domain: "acme-widgets-of-nodes.com", expected_category: "relay" }]

/** Several nodes that trust the balancer, and what is sent through it. */
async function balanced() {
  const { nodes: places, newKey } = await createCluster(2, {
    MAILKIND_TRUSTED_PROXIES: "127.0.0.1",
    MAILKIND_BASE_URL: "https://mail.example",
  })
  const [a, b] = places
  if (a === undefined || b === undefined) throw new Error("there are two places")
  const nodes = { a: await a.serve(), b: await b.serve() }
  const balancer = await startBalancer(places.map(place => place.port))
  return { a, nodes, balancer, newKey }
}

test.skipIf(missing.length > 0)(
  `behind the balancer that the page shows, callers do not notice nodes that are taken out, stopped, started or killed${NAMED}`,
  async () => {
    const { a, nodes, balancer, newKey } = await balanced()
    const key = await newKey()
    const load = startLoad([balancer.port], [key], [CHECK, CHECK, CHECK, CHECK, READ])
    const reporters = await reporterKeys({ newKey })
    const reporting = () => startLoad([balancer.port], reporters, [REPORT, REPORT])
    await load.goesOn(50)
    expect(load.processesCount()).toBe(2)

    // Taken out before it is stopped, as the page has it: not even what may not be asked twice is lost.
    const reports = reporting()
    await reports.goesOn(20)
    expect(await balancer.say(HAPROXY_COMMANDS.drain)).toBe("")
    expect(await nodes.a.stop()).toMatchObject({ code: 0 })
    await Promise.all([load.goesOn(50), reports.goesOn(20)])
    expect(Object.keys(await reports.end())).toEqual(["202"])
    const second = await a.serve()
    expect(await balancer.say(HAPROXY_COMMANDS.ready)).toBe("")
    await bounded(served(load, 3), () => "the node that was started anew gets nothing")

    // Stopped without a word to the balancer.
    expect(await second.stop()).toMatchObject({ code: 0 })
    await load.goesOn(50)
    await a.serve()
    await bounded(served(load, 4), () => "the node that was started anew gets nothing")

    const cut = reporting()
    await cut.goesOn(20)
    await nodes.b.kill()
    await Promise.all([load.goesOn(50), cut.goesOn(20)])
    await bounded(isDown(balancer, "b"), () => "the balancer believes that it lives")
    // What may not be asked twice and was on its way there is lost, and nothing else.
    const { 202: taken, 502: refused, 0: unanswered, ...rest } = await cut.end()
    expect(rest).toEqual({})
    const after = reporting()
    await Promise.all([load.goesOn(50), after.goesOn(20)])
    expect(Object.keys(await after.end())).toEqual(["202"])
    expect(Object.keys(await load.end())).toEqual(["200"])
  },
)

test.skipIf(missing.length > 0)(
  `behind the balancer that the page shows, a check whose body comes after its head is repeated when the node stands still${NAMED}`,
  async () => {
    const { nodes, balancer, newKey } = await balanced()
    const key = await newKey()
    process.kill(nodes.a.pid, "SIGSTOP")
    const startedAt = performance.now()
    try {
      const statuses = await Promise.all(Array.from({ length: 6 }, () => checkInTwoParts(balancer, key)))
      expect(statuses).toEqual(Array(6).fill(200))
      console.log(`six checks, one node frozen: ${Math.round(performance.now() - startedAt)} ms`)
    } finally {
      process.kill(nodes.a.pid, "SIGCONT")
    }
  },
)

/** Sends the body of a check once the balancer has had the head for a while. */
function checkInTwoParts(balancer: Balancer, key: string): Promise<number> {
  const body = JSON.stringify({ email: "jane@acme-widgets-of-nodes.com" })
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": body.length }
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const options = { port: balancer.port, host: "127.0.0.1", method: "POST", path: "/v1/check", headers, agent: false }
  const sent = request(options, answer => {
    answer.resume()
    answer.on("end", () => resolve(answer.statusCode ?? 0))
  })
  sent.on("error", reject)
  sent.flushHeaders()
  // A turn of the balancer's socket takes longer than the head on its way.
  void (async () => {
    for (let turn = 0; turn < 3; turn++) await balancer.say("show info")
    sent.end(body)
  })()
  return bounded(promise, () => "a check is not answered")
}

/** Resolves when the balancer knows that a node is gone. */
const isDown = (balancer: Balancer, name: string): Promise<void> =>
  until(
    async () => (await nodeStates(balancer)).get(name) === "DOWN",
    () => `${name} is not down`,
  )

/** Resolves when so many processes have answered. */
async function served(load: Load, count: number): Promise<void> {
  while (load.processesCount() < count) await load.goesOn(1)
}

test.skipIf(missing.length > 0)(
  `behind that balancer each client has limits of its own, whatever it says of itself${NAMED}`,
  async () => {
    const { port } = (await balanced()).balancer
    const greedy = await Promise.all(Array.from({ length: 60 }, (_, at) => askFrom(port, "127.0.0.2", `192.0.2.${at}`)))
    expect(greedy.filter(status => status === 200).length).toBeGreaterThan(0)
    expect(greedy.filter(status => status === 429).length).toBeGreaterThan(0)
    expect(await askFrom(port, "127.0.0.3", "127.0.0.2")).toBe(200)
  },
)

/** The status of a check without a key that comes from an address, and says that it comes from another. */
function askFrom(port: number, localAddress: string, forwarded: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const path = "/v1/check?email=business@mailkind.test"
  const headers = { "x-forwarded-for": forwarded }
  const sent = request({ host: "127.0.0.1", port, path, localAddress, headers, agent: false }, answer => {
    answer.resume()
    answer.on("end", () => resolve(answer.statusCode ?? 0))
  })
  sent.on("error", reject)
  sent.end()
  return bounded(promise, () => "no answer")
}
