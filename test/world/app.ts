import { afterAll } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Clock } from "../../src/base/clock.ts"
import type { LogFields, LogLevel } from "../../src/base/log.ts"
import { checking } from "../../src/check/check.ts"
import type { Manifest } from "../../src/check/lists/manifest.ts"
import { openLists } from "../../src/check/lists.ts"
import { offline } from "../../src/check/outside.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { KEY_RING_BOUNDS, KeyRing } from "../../src/customers/keys/key-ring.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { RateLimiter } from "../../src/customers/quota/rate-limiter.ts"
import { openSqlite } from "../../src/customers/store/sqlite.ts"
import type { OpenStore } from "../../src/customers/store/store.ts"
import { answers } from "../../src/http/answer.ts"
import { buildApp } from "../../src/http/app.ts"
import { clientAddress } from "../../src/http/client-address.ts"
import { shownLists } from "../../src/http/site/lists-page.tsx"
import { newAccount, random, tempLog } from "../customers/temp-store.ts"
import { stoppedClock } from "./clock.ts"

/** The lists that the checkout has built. */
const carried = openLists(await Bun.file(join(import.meta.dir, "../../data/build/lists.pack")).bytes(), true)
if (carried.kind === "refused") throw new Error(carried.says)

/** The lists of this checkout, opened once for all tests. */
export const lists = carried.lists

const manifest: Manifest = await Bun.file(join(import.meta.dir, "../../data/manifest.json")).json() // written by our build

/** A check over the real lists that asks nobody, in a time that stands still. */
export const check = checking({ lists: () => lists, outside: offline, clock: () => 0, stopwatch: () => 0 })

/** What one line of log said. */
export type Logged = { readonly level: LogLevel; readonly says: string; readonly fields: LogFields }

/** A store on a real file that lives as long as the test file does. */
async function storeForTheFile(clock: Clock): Promise<OpenStore> {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-app-"))
  const store = await openSqlite(join(directory, "mailkind.sqlite"), clock)
  opened.push({ store, directory })
  return store
}

const opened: { readonly store: OpenStore; readonly directory: string }[] = []
afterAll(async () => {
  for (const { store, directory } of opened.splice(0)) {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

/** The whole HTTP face over a real store in a fresh directory, a stopped clock and the real lists. */
export async function testApp() {
  const clock = stoppedClock()
  const store = await storeForTheFile(clock)
  const changes = { ...tempLog(store), hear: (heard: Parameters<KeyRing["apply"]>[0]) => keys.apply(heard) }
  const keys = new KeyRing(store, clock, clock, KEY_RING_BOUNDS)
  const accountId = await newAccount(changes, "owner@localhost", 4)
  const made = await createKey(changes, random, { accountId, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const logged: Logged[] = []
  let count = 0
  const clientOf = clientAddress([])
  const { fetch: app } = buildApp({
    answers: answers(() => `req_test${count++}`, false),
    check,
    keys,
    keyless: new RateLimiter(clock, {
      perSecond: LIMITS.keylessPerSecond,
      burst: LIMITS.keylessPerSecond,
      callersMax: 10,
    }),
    clientOf: request => clientOf(request.headers.get("x-test-peer") ?? "192.0.2.1", request.headers),
    clock,
    log: (level, says, fields = {}) => void logged.push({ level, says, fields }),
    testDomain: "mailkind.test",
    baseUrl: () => "http://localhost",
    health: () => ({
      status: "ok",
      version: "1.0.0",
      uptime_seconds: 0,
      lists: { version: lists.pack.version, built_at: lists.pack.builtAt, entries: lists.pack.entries },
      dns: { status: "ok" },
    }),
    isStopping: () => false,
    isHttps: false,
    asset: () => new Blob(["// the script"]),
    lists: () => shownLists(lists, manifest),
  })
  return {
    app,
    clock,
    logged,
    key: made.text,
    revoke: () => revokeKey(changes, made.key.id, "owner"),
    ask: asking(app, made.text),
  }
}

/** What an answer held. */
export type Asked = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }

/** Asks an app as one line: method, path, and optionally a body and headers; the key is sent unless `key` is null. */
function asking(app: (request: Request) => Response | Promise<Response>, ownKey: string) {
  return async (
    line: string,
    {
      body,
      key = ownKey,
      headers = {},
    }: { body?: unknown; key?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Asked> => {
    const [method = "GET", path = "/"] = line.split(" ")
    const sent = new Headers({ ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...headers })
    const raw =
      body === undefined || body instanceof ReadableStream || typeof body === "string" || body instanceof Uint8Array
    if (body !== undefined && !sent.has("Content-Type")) sent.set("Content-Type", "application/json")
    const payload = raw ? (body as BodyInit | undefined) : JSON.stringify(body) // the four kinds above are bodies
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: sent,
      ...(payload === undefined ? {} : { body: payload }),
    })
    const answer = await app(request)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) }
  }
}
