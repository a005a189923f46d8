import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { integrityOf } from "../../customers/crash.ts"
import { TestServer } from "../../support/test-server.ts"
import { CUSTOMER_SETTINGS, Customer } from "./customer.ts"
import { below, type Doing, type Found, tookMs, untilServed } from "./fault.ts"

const PAGE = 4096
/** Of the log of SQLite (sqlite.org/fileformat2.html#walformat). */
const WAL_HEAD = 32
const FRAME = 24 + PAGE
const DEEDS = 30

/** What is done to a log that a killed server left, and whether all that was acknowledged has to survive it. */
const WAL_DAMAGES = {
  "half a frame follows": { keepsAll: true, does: torn },
  "old frames follow": { keepsAll: true, does: stale },
  "it is cut at any octet": { keepsAll: false, does: cut },
  "octets are flipped": { keepsAll: false, does: (path, random) => flip(path, WAL_HEAD, random, 8) },
  "its head is flipped": { keepsAll: false, does: (path, random) => flip(path, 0, random, 1, WAL_HEAD) },
} as const satisfies Record<
  string,
  { readonly keepsAll: boolean; readonly does: (path: string, random: () => number) => void }
>

/** Damages the log that a killed server leaves beside its database, and starts a server on both. */
export async function damagedLog({ times, isLong, program, random }: Doing): Promise<Found> {
  await using first = new TestServer({ program, settings: CUSTOMER_SETTINGS })
  const entries = await killedWithLog(first)
  const damages = Object.entries(WAL_DAMAGES).slice(0, isLong ? undefined : 3)
  const breaches: string[] = []
  let backMs = 0
  let atLeast = entries.length
  for (let time = 0; time < times; time++)
    for (const [name, { keepsAll, does }] of damages) {
      await using victim = new TestServer({ program, settings: CUSTOMER_SETTINGS })
      cpSync(first.dataDirectory, victim.dataDirectory, { recursive: true })
      rmSync(`${victim.database}-shm`, { force: true })
      does(`${victim.database}-wal`, random)
      victim.firstKey = first.firstKey
      backMs = Math.max(backMs, await tookMs(() => victim.start()))
      const kept = await entriesOf(victim)
      breaches.push(...integrityOf(victim.database))
      // Writes are taken back from the end alone: never one from the middle, and never half of one.
      if (kept.some((entry, at) => entry !== entries[at])) breaches.push(`${name}: what is left is not how it was`)
      if (keepsAll && kept.length < entries.length)
        breaches.push(`${name}: ${entries.length - kept.length} entries are lost`)
      atLeast = Math.min(atLeast, kept.length)
    }
  return {
    did: `${namesOf(damages)}: the log beside a database of a killed server; of ${entries.length} writes that stood in it the first ${atLeast} were there at least, and all where the log itself was whole`,
    ...{ times: times * damages.length, acknowledged: entries.length, breaches, backMs, memory: null },
  }
}

const namesOf = (damages: readonly (readonly [string, unknown])[]): string => damages.map(([name]) => name).join("; ")

/** A server that was killed when it had written entries one after the other; gives them in their order. */
async function killedWithLog(victim: TestServer): Promise<readonly string[]> {
  await victim.start()
  for (let deed = 0; deed < DEEDS; deed++) {
    const { body, status } = await victim.ask("POST /v1/feedback", {
      key: victim.firstKey,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ domain: `report-${deed}.example.com`, expected_category: "business" }),
    })
    if (status !== 202) throw new Error(body)
  }
  await victim.kill()
  if (statSync(`${victim.database}-wal`).size < WAL_HEAD + FRAME * DEEDS) throw new Error("the log was emptied")
  return Array.from({ length: DEEDS }, (_, at) => `report-${at}.example.com`)
}

async function entriesOf(victim: TestServer): Promise<readonly string[]> {
  const listed = (await victim.run("feedback", "list")) as readonly { readonly domain: string }[] // as documented
  return listed.map(({ domain }) => domain).toSorted((one, other) => numberIn(one) - numberIn(other))
}

const numberIn = (text: string): number => Number(/\d+/.exec(text)?.[0])

function torn(path: string, random: () => number): void {
  const noise = Buffer.from(Array.from({ length: 1 + below(random, FRAME - 1) }, () => below(random, 256)))
  writeFileSync(path, Buffer.concat([readFileSync(path), noise]))
}

function stale(path: string): void {
  const log = readFileSync(path)
  writeFileSync(path, Buffer.concat([log, log.subarray(WAL_HEAD, WAL_HEAD + FRAME * 3)]))
}

function cut(path: string, random: () => number): void {
  truncateSync(path, below(random, statSync(path).size))
}

function flip(path: string, from: number, random: () => number, count: number, to = statSync(path).size): void {
  const bytes = readFileSync(path)
  for (let time = 0; time < count; time++) {
    const at = from + below(random, to - from)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << below(random, 8))
  }
  writeFileSync(path, bytes)
}

/** What is done to the pages of a database, by the number of its pages. */
const PAGE_DAMAGES = {
  "its first page": () => [0],
  "one page in four": (pages, random) => Array.from({ length: Math.ceil(pages / 4) }, () => below(random, pages)),
  "all but the first": pages => Array.from({ length: pages - 1 }, (_, at) => at + 1),
} as const satisfies Record<string, (pages: number, random: () => number) => readonly number[]>

const REMEDY = /restore (?:the database|it) from a backup/i

/** Overwrites pages of a database: a server refuses it in words, or names the remedy when it meets the damage; a restore mends it. */
export async function damagedPages({ times, isLong, program, random }: Doing): Promise<Found> {
  const damages = Object.entries(PAGE_DAMAGES).slice(0, isLong ? undefined : 1)
  const mended: Mended[] = []
  for (let time = 0; time < times; time++)
    for (const [name, pagesOf] of damages) mended.push(await damagedAndMended(program, name, pagesOf, random))
  return {
    did: `${namesOf(damages)}: pages of a database were overwritten, and it was restored from a backup`,
    times: mended.length,
    acknowledged: mended.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    breaches: mended.flatMap(({ breaches }) => breaches),
    backMs: Math.max(...mended.map(({ backMs }) => backMs)),
    memory: null,
  }
}

type Mended = { readonly breaches: readonly string[]; readonly backMs: number; readonly acknowledged: number }
type PagesOf = (pages: number, random: () => number) => readonly number[]

async function damagedAndMended(
  program: readonly string[],
  name: string,
  pagesOf: PagesOf,
  random: () => number,
): Promise<Mended> {
  await using victim = new TestServer({ program, settings: CUSTOMER_SETTINGS })
  await victim.start()
  const desk = new Customer(victim, 0)
  await desk.signIn()
  await desk.makeKey()
  for (let deed = 0; deed < 5; deed++) await desk.block()
  const backup = join(victim.directory, "backup")
  const backedUp = await victim.command("backup", backup)
  if (backedUp.code !== 0) throw new Error(backedUp.err)
  await victim.stop()
  overwrite(victim.database, pagesOf(statSync(victim.database).size / PAGE, random), random)
  const breaches: string[] = []
  const facts = await toldOf(victim)
  if (!REMEDY.test(facts)) breaches.push(`${name}: nobody said what to do: ${facts.slice(0, 500)}`)
  await victim.kill()
  const restored = await victim.command("restore", backup)
  if (restored.code !== 0) breaches.push(`${name}: it could not be restored: ${restored.err}`)
  const backMs = await tookMs(() => victim.start().then(() => untilServed(victim)))
  breaches.push(...integrityOf(victim.database))
  // A restore signs everybody out, and keeps the rest.
  await desk.signIn()
  return { breaches: [...breaches, ...(await desk.lost())], backMs, acknowledged: desk.acknowledged }
}

function overwrite(path: string, pages: readonly number[], random: () => number): void {
  const bytes = readFileSync(path)
  for (const page of pages) for (let at = page * PAGE; at < (page + 1) * PAGE; at++) bytes[at] = below(random, 256)
  writeFileSync(path, bytes)
}

/** What a server says of a damaged database when it is started on it and then asked, and what the doctor says. */
async function toldOf(victim: TestServer): Promise<string> {
  const refusal = await victim.start().then(
    () => "",
    (fault: unknown) => String(fault),
  )
  if (refusal !== "") return refusal
  await victim.check().catch(() => 0)
  const { out, err } = await victim.command("doctor", "--only", "database")
  return `${victim.log}${out}${err}`
}

/** What is done to the files of refreshed lists. */
const LIST_DAMAGES = {
  "the pack is cut": ({ pack }, random) => truncateSync(pack, below(random, statSync(pack).size)),
  "the pack is empty": ({ pack }) => truncateSync(pack, 0),
  "the pack is flipped": ({ pack }, random) => flip(pack, 0, random, 20),
  "the pack is gone": ({ pack }) => rmSync(pack),
  "its manifest is cut": ({ manifest }, random) => truncateSync(manifest, below(random, statSync(manifest).size)),
  "the state is cut": ({ state }, random) => truncateSync(state, below(random, statSync(state).size)),
  "the state is flipped": ({ state }, random) => flip(state, 0, random, 3),
  "the state is no text": ({ state }) => writeFileSync(state, new Uint8Array(500).fill(0xff)),
} as const satisfies Record<string, (files: ListFiles, random: () => number) => void>
type ListFiles = Readonly<Record<"pack" | "manifest" | "state", string>>

const NAMES = { "gmail.com": "personal", "mailinator.com": "disposable", "duck.com": "relay", "mit.edu": "education" }

/** Damages the files of lists that were refreshed, and starts a server on them. */
export async function damagedLists({ times, isLong, program, random }: Doing): Promise<Found> {
  const damages = Object.entries(LIST_DAMAGES).filter(([name]) => isLong || /(?:pack|state) is cut/.test(name))
  using source = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(OWN_NAMES) })
  const settings = { MAILKIND_LISTS_SOURCES: `own=${source.url.href}` }
  await using first = new TestServer({ program, settings })
  const updated = await first.command("lists", "update", "--source", "own")
  if (updated.code !== 0) throw new Error(`${updated.out}${updated.err}`)
  const breaches: string[] = []
  let backMs = 0
  for (let time = 0; time < times; time++)
    for (const [name, damage] of damages) {
      await using victim = new TestServer({ program, settings })
      cpSync(first.dataDirectory, victim.dataDirectory, { recursive: true })
      damage(listFiles(victim), random)
      backMs = Math.max(backMs, await tookMs(() => victim.start().then(() => untilServed(victim))))
      for (const [domain, category] of Object.entries(NAMES)) {
        const { status, body } = await victim.ask(`GET /v1/check?domain=${domain}`, { key: victim.firstKey })
        if (status !== 200 || JSON.parse(body).category !== category)
          breaches.push(`${name}: ${domain} is ${status} ${body}`)
      }
    }
  return {
    did: `${namesOf(damages)}: files of lists that were refreshed; a server was started on them`,
    ...{ times: times * damages.length, acknowledged: 0, breaches, backMs, memory: null },
  }
}

const OWN_NAMES = Array.from({ length: 500 }, (_, at) => `throw-away-${at}.com`).join("\n")

function listFiles({ dataDirectory }: TestServer): ListFiles {
  const folder = join(dataDirectory, "lists", "refresh")
  const named = (end: string): string => join(folder, readdirSync(folder).find(name => name.endsWith(end)) ?? "none")
  return {
    pack: named(".pack"),
    state: named("state.json"),
    manifest: join(folder, readdirSync(folder).find(name => /^[0-9a-f]+\.json$/.test(name)) ?? "none"),
  }
}
