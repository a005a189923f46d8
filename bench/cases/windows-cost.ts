/** What a refresh costs, by `lists update`, when every source offers as many names as the real ones do. */

import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { seeded } from "../load/seeded-random.ts"
import { emptyDirectory, PROGRAM, productSettings } from "../servers/product.ts"
import { runMeasured } from "../servers/server-process.ts"
import { nameMaker } from "./windows-simulation.ts"

export type RefreshCost = {
  readonly ms: number
  /** The most resident memory that the process of the refresh had. */
  readonly peakBytes: number
  readonly packBytes: number
  /** The number of names of the window source in the pack. */
  readonly entries: number
}

const UPDATE_TIMEOUT_MS = 120_000

/**
 * How many names each source offers, as many as the real ones had in November 2026. The window source is apart. An allow list may
 * not free more than a hundred names that are not built in (`DECISIONS 66`).
 */
export const SIZES = {
  "disposable-email-domains": 8_900,
  "disposable-email-domains-allowed": 90,
  "disposable-domains": 170_000,
  "disposable-domains-mx": 60_000,
  ffraud: 222_000,
  tompec: 133_000,
  dotgov: 13_000,
  "world-gov": 9_000,
  "govt-urls": 11_000,
  "world-universities": 10_000,
  tranco: 50_000,
} as const satisfies Record<string, number>

/** The sum of those numbers. */
export const SOURCE_SIZES = Object.values(SIZES).reduce((sum, size) => sum + size, 0)

/** Runs `lists update` in a directory where the window source has a stored download, and offers it one more window. */
export async function refreshCost(stored: Uint8Array, window: readonly string[]): Promise<RefreshCost> {
  await using directory = await emptyDirectory()
  const folder = join(directory.path, "lists", "refresh")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await Bun.write(join(folder, "castle.txt"), stored)
  using server = sourceServer(window)
  const urls = [...Object.keys(SIZES), "castle"].map(id => `${id}=${server.url}${id}`)
  const environment = { ...productSettings(directory.path), MAILKIND_LISTS_SOURCES: urls.join(",") }
  const command = [...PROGRAM, "lists", "update", "--json"] as const
  const startedAt = performance.now()
  const { out, peakBytes: firstPeakBytes } = await runMeasured({ command, environment }, UPDATE_TIMEOUT_MS)
  const ms = performance.now() - startedAt
  // With downloads to compare the new ones with.
  const again = await runMeasured({ command, environment }, UPDATE_TIMEOUT_MS)
  const peakBytes = Math.max(firstPeakBytes, again.peakBytes)
  const { sources }: { readonly sources: Record<string, { readonly outcome: string; readonly says: string }> } =
    JSON.parse(out)
  const useless = Object.entries(sources).filter(([, { outcome }]) => outcome !== "taken")
  if (useless.length > 0) throw new Error(`sources were of no use: ${JSON.stringify(useless)}`)
  const files = await Array.fromAsync(new Bun.Glob("*.pack").scan(folder))
  const manifests = await Array.fromAsync(new Bun.Glob("????????????????.json").scan(folder))
  const manifest = await Bun.file(join(folder, manifests[0] ?? "")).json()
  const packBytes = Bun.file(join(folder, files[0] ?? "")).size
  return { ms, peakBytes, packBytes, entries: manifest.sources.castle.read }
}

/** A server of all sources. Half of the names of a long list are those of the others, as with the real ones. */
function sourceServer(window: readonly string[]): Disposable & { readonly url: string } {
  const random = seeded(7)
  const newName = nameMaker(random)
  const pool = Array.from({ length: Math.max(...Object.values(SIZES)) }, newName)
  const namesOf = (count: number): string[] =>
    Array.from({ length: count }, (_, at) => (at % 2 === 0 ? (pool[at] ?? newName()) : newName()))
  const lines = (names: readonly string[]): string => `${names.join("\n")}\n`
  const texts: Readonly<Record<keyof typeof SIZES | "castle", string>> = {
    castle: lines(window),
    "disposable-email-domains": lines(namesOf(SIZES["disposable-email-domains"])),
    "disposable-email-domains-allowed": lines(namesOf(SIZES["disposable-email-domains-allowed"])),
    "disposable-domains": lines(namesOf(SIZES["disposable-domains"])),
    "disposable-domains-mx": lines(namesOf(SIZES["disposable-domains-mx"])),
    ffraud: lines(namesOf(SIZES.ffraud)),
    tompec: JSON.stringify(namesOf(SIZES.tompec), null, 2),
    dotgov: csv(["Domain name", "Type", "Agency", "City"], officesOf(SIZES.dotgov, newName)),
    "world-gov": csv(["domain", "country"], officesOf(SIZES["world-gov"], newName)),
    "govt-urls": csv(
      ["Domain name", "Agency", "Type of government", "Comments"],
      officesOf(SIZES["govt-urls"], newName),
    ),
    "world-universities": JSON.stringify(
      Array.from({ length: SIZES["world-universities"] }, (_, at) => ({
        ...{ name: `University ${at}`, country: "Somewhere", alpha_two_code: "ZZ", "state-province": null },
        ...{ web_pages: ["https://www.university.example/"], domains: [newName()] },
      })),
    ),
    tranco: Array.from({ length: SIZES.tranco }, (_, at) => `${at + 1},${newName()}\n`).join(""),
  }
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(Object.entries(texts).find(([id]) => url.endsWith(`/${id}`))?.[1] ?? null),
  })
  return { url: server.url.href, [Symbol.dispose]: () => void server.stop(true) }
}

const officesOf = (count: number, newName: () => string): string[] => Array.from({ length: count }, newName)

/** A table with a text of usual length in each of the other columns. */
const csv = (columns: readonly string[], names: readonly string[]): string =>
  [columns, ...names.map(name => [name, ...columns.slice(1).map(() => '"Office of Public Works, Somewhere"')])]
    .map(row => `${row.join(",")}\n`)
    .join("")
