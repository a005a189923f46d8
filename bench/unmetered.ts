/**
 * The product's HTTP face without customers' checks: the same app over the same lists, but whatever key is sent is that of
 * one account without limits. No key is hashed or looked up, and no rate, request in flight, unit, use or list of its own
 * is counted or asked for. What customers cost is measured against it. It reads the product's settings.
 */

import { join } from "node:path"
import { checkOver, logOf, newRequestIds } from "../src/assemble.ts"
import { customersAtWork } from "../src/assemble-customers.ts"
import { OFFLINE } from "../src/assemble-outside.ts"
import { signInAtWork } from "../src/assemble-sign-in.ts"
import { openStore } from "../src/assemble-store.ts"
import { guideFacts } from "../src/assemble-supply.ts"
import { NO_STANDING } from "../src/check/check.ts"
import { NEVER_DEEP } from "../src/check/deep.ts"
import { openLists } from "../src/check/lists.ts"
import { readSettings } from "../src/config/settings.ts"
import { TIER_MAX } from "../src/contract/tiers.ts"
import type { KnownKey } from "../src/customers/keys/held-keys.ts"
import { answers } from "../src/http/answer.ts"
import { buildApp } from "../src/http/app.ts"
import { LOAD_BOUNDS, Load } from "../src/http/load.ts"
import { ownColumn } from "../src/http/metrics/columns.ts"
import { Meter } from "../src/http/metrics/meter.ts"
import { OWN_FILES, realWorld } from "../src/world.ts"

/** Whose every request is; the highest tier has no limits. */
const EVERYBODY: KnownKey = {
  kind: "active",
  key: { id: "key_everybody", kind: "secret", origins: [] },
  account: { id: "acc_everybody", tier: TIER_MAX, acceptedTermsVersion: null, acceptedTermsAtMs: null },
}

const world = realWorld()
const read = readSettings(world.environment)
if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
const { settings } = read
const opened = openLists(world.files.map(join(world.files.root, OWN_FILES["lists.pack"])) ?? new Uint8Array(), true)
if (opened.kind === "refused") throw new Error(`${opened.says} ${opened.remedy}`)
const { lists } = opened
const log = logOf(world, settings)

// The parts are the real ones, so that the app is; the three that every request asks are made to know everything already.
const store = await openStore(world, settings, logOf(world, settings))
const customers = await customersAtWork(world, settings, store, log)
customers.keys.lookup = () => EVERYBODY
customers.ownLists.standing = () => NO_STANDING
customers.usage.note = () => undefined

const meter = new Meter(ownColumn())
const { server } = buildApp({
  ...customers,
  answers: answers(newRequestIds(world), false),
  isHttps: false,
  roleOf: () => null,
  check: checkOver(world, () => lists, OFFLINE.outside, NEVER_DEEP, customers.corrections),
  clientOf: () => "192.0.2.1",
  clock: world.clock,
  random: world.random,
  soon: world.soon,
  reporterKey: async () => ({ kind: "unavailable" }),
  changes: { store, clock: world.clock, hear: customers.hear },
  isAdmin: () => false,
  signIn: signInAtWork(world, settings, store, log, async () => ({ kind: "no_server" })),
  defaultTier: settings.MAILKIND_DEFAULT_TIER,
  hasMailServer: false,
  revokeLeaked: async () => ({ kind: "no_secret_key" }),
  log,
  stopwatch: world.stopwatch,
  logging: { slowMs: null, sampleEvery: null },
  meter,
  load: new Load({ ...LOAD_BOUNDS, inFlightMax: settings.MAILKIND_IN_FLIGHT_MAX }, () => 0, meter, world.soon),
  metrics: { read: () => Promise.reject(new Error("nobody asks this server what it counted")), mayRead: () => false },
  testDomain: settings.MAILKIND_TEST_DOMAIN,
  baseUrl: () => "http://localhost",
  health: () => {
    throw new Error("nobody asks how this server is")
  },
  isStopping: () => false,
  asset: () => null,
  guide: guideFacts(world, settings),
  lists: () => {
    throw new Error("nobody asks this server for its lists")
  },
}).listen({ hostname: "127.0.0.1", port: settings.MAILKIND_PORT, development: false, reusePort: false })
console.log(`without customers' checks it listens on http://127.0.0.1:${server?.port}`)
