/** Run as a process of its own: what does a memory of `N` sightings take, and how long is it read from a store? It prints JSON. */
import { heapStats } from "bun:jsc"
import { join } from "node:path"
import { gc } from "bun"
import { utcDay } from "../../src/base/time.ts"
import { hashDomain, LEARNED_BOUNDS, LearnedHosts, type MailPlaces } from "../../src/check/learned/learned-hosts.ts"
import {
  OBSERVATIONS_PER_READ_MAX,
  OBSERVATIONS_PER_WRITE_MAX,
  OBSERVATIONS_START,
  readHostObservations,
  writeHostObservations,
} from "../../src/customers/evidence/host-observations.ts"
import type { Store } from "../../src/customers/store/core/store.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { emptyDirectory } from "../servers/product.ts"
import { runToEnd } from "../servers/server-process.ts"

/** What was measured; a page is what is read without a pause. */
export type LearnedMemory = {
  readonly heapBytes: number
  readonly readMs: number
  readonly longestPageMs: number
  readonly meetUs: number
}

const TIMEOUT_MS = 120_000
const DOMAINS_PER_HOST = 5
const DAY = utcDay(Date.UTC(2026, 0, 1))

/** What so many sightings cost a fresh process. */
export async function learnedHeld(sightings: number): Promise<LearnedMemory> {
  return JSON.parse(
    await runToEnd({ command: [process.execPath, import.meta.path, String(sightings)] }, "", TIMEOUT_MS),
  )
}

if (import.meta.main) {
  const count = Number(process.argv[2])
  await using directory = await emptyDirectory()
  const store = await openSqlite(join(directory.path, "mailkind.sqlite"), Date.now)
  await write(store, count)
  const before = heapNow()
  const hosts = new LearnedHosts(LEARNED_BOUNDS)
  const pagesMs = await read(store, hosts)
  const heapBytes = heapNow() - before
  if (hosts.size.observations !== count) throw new Error(`${hosts.size.observations} of ${count} observations are held`)
  const held: LearnedMemory = {
    heapBytes,
    readMs: pagesMs.reduce((sum, ms) => sum + ms, 0),
    longestPageMs: Math.max(...pagesMs),
    meetUs: meetUs(hosts, count),
  }
  await store.close()
  console.log(JSON.stringify(held))
}

function domainOf(at: number): string {
  return `harbor-freight-${at}.com`
}

/** Each host has an address of its own. */
function placesOf(at: number): MailPlaces {
  const host = Math.floor(at / DOMAINS_PER_HOST)
  return {
    host: `mail-hosting-${host}.net`,
    addresses: [`45.${host >> 16}.${(host >> 8) & 255}.${host & 255}`],
  }
}

async function write(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += OBSERVATIONS_PER_WRITE_MAX) {
    const batch = Array.from({ length: Math.min(OBSERVATIONS_PER_WRITE_MAX, count - from) }, (_, at) => ({
      domainHash: hashDomain(domainOf(from + at)),
      ...placesOf(from + at),
      isListed: true,
      seenOn: DAY,
    }))
    await writeHostObservations(store, batch)
  }
}

async function read(store: Store, hosts: LearnedHosts): Promise<readonly number[]> {
  const pagesMs: number[] = []
  for (let upTo = OBSERVATIONS_START; ; ) {
    const startedAt = performance.now()
    const page = await readHostObservations(store, upTo)
    hosts.load(page.observations, DAY)
    pagesMs.push(performance.now() - startedAt)
    if (page.observations.length < OBSERVATIONS_PER_READ_MAX) return pagesMs
    upTo = page.cursor
  }
}

/** Domains that are known, each met on another day. */
function meetUs(hosts: LearnedHosts, count: number): number {
  let learnedCount = 0
  const startedAt = performance.now()
  for (let at = 0; at < count; at++) {
    hosts.observe(domainOf(at), placesOf(at), true, DAY + 1)
    if (hosts.servesDisposable(domainOf(at), placesOf(at), DAY + 1)) learnedCount++
  }
  const tookMs = performance.now() - startedAt
  if (learnedCount === 0) throw new Error("no host was learned")
  return (tookMs * 1000) / count
}

function heapNow(): number {
  gc(true)
  return heapStats().heapSize
}
