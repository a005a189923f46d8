import { expect, setDefaultTimeout } from "bun:test"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { samplesOf } from "../../support/prometheus.ts"
import { differingAlerts, readAlertRules, runPromtool, scrapesOf, testRules } from "../../support/promtool.ts"
import { sendSignal } from "../../support/send-signal.ts"
import { until } from "../../support/until.ts"
import { startWorkersServer, type WorkersServer } from "./workers-server.ts"

setDefaultTimeout(120_000)

/** Has a server check a domain that only DNS could tell of. */
const check = ({ port, firstKey }: WorkersServer, count: number) =>
  askLoopback(`http://127.0.0.1:${port}/v1/check?domain=unlisted-${count}.com`, {
    headers: { Authorization: `Bearer ${firstKey}` },
  })

testRules(
  "of a real server with two workers, a killed one and DNS that does not answer fire their alerts, and nothing else fires",
  async () => {
    const metricsPort = freePort()
    await using server = await startWorkersServer({
      MAILKIND_METRICS: `127.0.0.1:${metricsPort}`,
      MAILKIND_DNS_SERVERS: `127.0.0.1:${freePort()}`,
    })
    const scrape = async () => (await askLoopback(`http://127.0.0.1:${metricsPort}/metrics`)).body
    const value = async (name: string) => samplesOf(await scrape()).get(name)
    const replaced = ({ msg, pid }: { readonly msg: string; readonly pid?: unknown }) =>
      msg === "a worker listens" && !firstPids.includes(Number(pid))
    await until(
      async () => (await value("mailkind_workers_missing")) === 0,
      () => "a worker serves",
    )
    const firstPids = server.workers()
    const before = await scrape()
    sendSignal(firstPids[0], "SIGKILL")
    await server.logged(replaced)
    let asked = 0
    await until(
      async () => (await check(server, asked++)).status === 200 && (await value("mailkind_dns_up")) === 0,
      () => "DNS counts as unavailable",
    )
    await until(
      async () => (await value("mailkind_workers_missing")) === 0,
      () => "the next worker serves",
    )
    const after = await scrape()
    expect(await runPromtool(["check", "metrics"], after)).toEqual({ code: 0, printed: "" })
    const names = new Set(samplesOf(after.replaceAll(/\{.*\}/g, "")).keys())
    const missing = (await readAlertRules())
      .flatMap(({ expr }) => [...expr.matchAll(/mailkind_\w+/g)].map(([name]) => name))
      .filter(name => !names.has(name))
    expect(missing).toEqual([])
    // What else the machine does makes everything slow.
    const timeless = (text: string): string =>
      text.replaceAll(/^mailkind_(?:event_loop_lag|\w+_duration)_seconds.*$/gm, "")
    const scraped = scrapesOf(timeless(before), timeless(after), Date.now() / 1000)
    const state = { every: "1m", scraped } as const
    expect(
      await differingAlerts([
        { ...state, name: "before the faults", at: "9m", firing: [] },
        { ...state, name: "after the faults", at: "30m", firing: ["MailkindDnsAway", "MailkindWorkerEnded"] },
      ]),
    ).toBe("")
  },
)
