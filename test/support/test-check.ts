import { createDnsOutageLog, createNetworkService, type NetworkService } from "../../src/assemble/check/network.ts"
import { createContext } from "../../src/assemble/context.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import { fullResult } from "../../src/check/result/result.ts"
import { parseSettings } from "../../src/config/settings.ts"
import type { CheckResult } from "../../src/contract/result-schema.ts"
import { createSystem } from "../../src/system/system.ts"
import { lists } from "./app.ts"
import { type DnsServer, dnsServer } from "./dns-server.ts"
import type { ServedRecords } from "./dns-zone.ts"
import { type IdentityTable, identityWeb } from "./identity-server.ts"
import { onTestEnd } from "./on-test-end.ts"
import { createFakeTime } from "./time.ts"

/** What a house is built with beside its DNS servers. */
export type TestCheckOptions = {
  readonly canaries?: string
  readonly identity?: IdentityTable | "off"
  readonly timeoutMs?: number
  readonly budgetMs?: number
}

/** A DNS server that is stopped after the test. */
export async function serving(records: ServedRecords): Promise<DnsServer> {
  const server = await dnsServer(records, { ttlS: 300 })
  onTestEnd(server.stop)
  return server
}

/** The check as it is wired for production, over these servers on loopback, a made-up web and a time that the test moves. */
export function createTestCheck(servers: readonly DnsServer[], options: TestCheckOptions = {}) {
  const time = createFakeTime()
  const { canaries = "off", identity = "off", timeoutMs = 1500, budgetMs = 3000 } = options
  const read = parseSettings({
    MAILKIND_DNS_SERVERS: servers.map(({ address, port }) => `${address}:${port}`).join(",") || "off",
    MAILKIND_DNS_CANARIES: canaries,
    MAILKIND_DNS_TIMEOUT_MS: String(timeoutMs),
    MAILKIND_CHECK_TIMEOUT_MS: String(budgetMs),
    MAILKIND_IDENTITY_URL: identity === "off" ? "off" : "https://identity.example",
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const { web: fetchUrl, requests: identityRequests } = identityWeb(identity === "off" ? {} : identity)
  const { clock, stopwatch, later: setTimer } = time
  const logged: string[] = []
  const writeStderr = (line: string): void => void logged.push(line)
  const system = { ...createSystem(), clock, stopwatch, setTimer, fetchUrl, isTerminal: false, writeStderr }
  const context = createContext(system, read.settings)
  const asking: NetworkService = createNetworkService(
    context,
    { learnedHosts: null, matchLists: (domain, registrable) => lists.pack.match(domain, registrable) },
    { outages: createDnsOutageLog(context, () => []) },
  )
  onTestEnd(asking.stop)
  const check = createCheck({
    activeLists: () => lists,
    networkProbe: asking.networkProbe,
    deepProbe: OFFLINE_DEEP_PROBE,
    corrections: NO_CORRECTIONS,
    clock,
    stopwatch,
  })
  const ask = async (input: string, includeTenant = true): Promise<CheckResult> =>
    fullResult(
      await check({
        subject: parseSubject(detectSubjectKind(input), input, "mailkind.test"),
        policy: "b2b",
        isDeep: false,
        ownListMatch: NO_OWN_LIST_MATCH,
        includeTenant,
      }),
      "req_1",
    )
  return { ask, time, identityRequests, isDnsUnavailable: asking.isDnsUnavailable, logged }
}

const STEP_MS = 100

/** Lets time go on, in steps between which packets may come, until the promise is settled; gives its value and how long that took. */
export async function inTime<T>(
  time: ReturnType<typeof createFakeTime>,
  promise: Promise<T>,
): Promise<{ value: T; tookMs: number }> {
  let isSettled = false
  const watched = promise.finally(() => {
    isSettled = true
  })
  const startedAt = time.stopwatch()
  for (;;) {
    await packetsPass()
    if (isSettled) return { value: await watched, tookMs: time.stopwatch() - startedAt }
    await time.tick(STEP_MS)
  }
}

/** Gives the system's event loop turns enough for packets on loopback to come and go. */
export async function packetsPass(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise(resolve => setImmediate(resolve))
}
