/**
 * The product's HTTP face without customers' checks: the same app over the same lists, but whatever key is sent is that of
 * one account without limits. No key is hashed or looked up, and no rate, request in flight, unit, use or list of its own
 * is counted or asked for. What customers cost is measured against it. It reads the product's settings.
 */

import { join } from "node:path"
import { OFFLINE_NETWORK } from "../../src/assemble/check/network.ts"
import { createContext } from "../../src/assemble/context.ts"
import { createCustomersService } from "../../src/assemble/customers/customers.ts"
import { createSignInService } from "../../src/assemble/customers/sign-in.ts"
import { openStore } from "../../src/assemble/customers/store.ts"
import { createJobsService } from "../../src/assemble/jobs.ts"
import { guideFacts } from "../../src/assemble/licences.ts"
import { assembleCheck } from "../../src/assemble/server.ts"
import { NO_OWN_LIST_MATCH } from "../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../src/check/deep-evidence.ts"
import { openLists } from "../../src/check/domain-lookup.ts"
import { parseSettings } from "../../src/config/settings.ts"
import { TIER_MAX } from "../../src/contract/tiers.ts"
import type { CallerCredentials } from "../../src/customers/keys/key-cache.ts"
import { LOAD_LIMITS, LoadShedder } from "../../src/http/admission/load-shedder.ts"
import { createApp } from "../../src/http/app.ts"
import { createCounterShard } from "../../src/http/metrics/counter-layout.ts"
import { Meter } from "../../src/http/metrics/meter.ts"
import { createJsonResponses } from "../../src/http/response/json-responses.ts"
import { createRequestIds } from "../../src/http/response/request-id.ts"
import { BUNDLED_FILES } from "../../src/system/files.ts"
import { createSystem } from "../../src/system/system.ts"

/** Whose every request is; the highest tier has no limits. */
const EVERYBODY: CallerCredentials = {
  kind: "active",
  key: { id: "key_everybody", kind: "secret", origins: [] },
  account: { id: "acc_everybody", tier: TIER_MAX, acceptedTermsVersion: null, acceptedTermsAtMs: null },
}

const system = createSystem()
const read = parseSettings(system.environment)
if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
const { settings } = read
const opened = openLists(
  system.files.readNow(join(system.files.root, BUNDLED_FILES["lists.pack"])) ?? new Uint8Array(),
  true,
)
if (opened.kind === "refused") throw new Error(`${opened.message} ${opened.remedy}`)
const { lists } = opened

// The parts are the real ones, so that the app is; the three that every request asks are made to know everything already.
const app = createContext(system, settings)
const store = await openStore(app)
const context = { ...app, store, trustedTime: { now: () => null, reference: system.clock } }
const customers = await createCustomersService(context)
customers.keys.lookup = () => EVERYBODY
customers.ownLists.lookup = () => NO_OWN_LIST_MATCH
customers.usage.record = () => undefined

const meter = new Meter(createCounterShard())
const check = assembleCheck(
  system,
  () => lists,
  OFFLINE_NETWORK.networkProbe,
  OFFLINE_DEEP_PROBE,
  customers.corrections,
)
const loadShedder = new LoadShedder(
  { ...LOAD_LIMITS, inFlightMax: settings.MAILKIND_IN_FLIGHT_MAX },
  () => 0,
  meter,
  system.nextTick,
  system.setTimer,
)
const { server } = createApp({
  ...customers,
  responses: createJsonResponses(createRequestIds(system.random), false),
  isHttps: false,
  roleOf: () => null,
  check,
  // No job is checked here.
  jobs: createJobsService(context, check, customers, loadShedder).jobs,
  allowSilence: () => undefined,
  setTimer: system.setTimer,
  signUpCheck: async () => null,
  clientOf: () => "192.0.2.1",
  addressOf: () => "192.0.2.1",
  clock: system.clock,
  random: system.random,
  nextTick: system.nextTick,
  findReporterKey: async () => ({ kind: "unavailable" }),
  changes: { store, clock: system.clock, notify: customers.publishChanges },
  isAdmin: () => false,
  signIn: createSignInService(context, async () => ({ kind: "no_server" })),
  defaultTier: settings.MAILKIND_DEFAULT_TIER,
  hasMailServer: false,
  pricing: null,
  securityContacts: [],
  isDnsOff: false,
  revokeLeaked: async () => ({ kind: "no_secret_key" }),
  log: context.log,
  stopwatch: system.stopwatch,
  logging: { slowMs: () => null, sampleEvery: () => null, logsEveryRefusal: () => false },
  meter,
  loadShedder,
  metrics: { read: () => Promise.reject(new Error("nobody asks this server what it counted")), mayRead: () => false },
  testDomain: settings.MAILKIND_TEST_DOMAIN,
  baseUrl: () => "http://localhost",
  health: () => {
    throw new Error("nobody asks how this server is")
  },
  isStopping: () => false,
  isCutOff: () => false,
  isDraining: () => false,
  asset: () => null,
  guide: guideFacts(context),
  lists: () => {
    throw new Error("nobody asks this server for its lists")
  },
}).listen({ hostname: "127.0.0.1", port: settings.MAILKIND_PORT, development: false, reusePort: false })
console.log(`without customers' checks it listens on http://127.0.0.1:${server?.port}`)
