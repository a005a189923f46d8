/**
 * Does a pack answer as fast as a `Set<string>` of the same names, and in less memory? Times are medians of rounds in alternating
 * order. A fresh string is cut out of a buffer for each question, as a parser does, so its hash is not known yet.
 */

import { gc } from "bun"
import { openPack, type Pack } from "../../src/check/lists/pack/pack.ts"
import { registrableDomain } from "../../src/check/lists/sources/normalized-name.ts"
import { seeded } from "../load/seeded-random.ts"
import { figure, type Report } from "../report/report.ts"
import { median } from "../report/rounds.ts"
import { packMemory, setMemory } from "./lists-memory.ts"

/** How much the bench does. */
export type ListsScale = { readonly questions: number; readonly rounds: number }

/** The scale of a figure that may be told. */
export const LISTS_FULL: ListsScale = { questions: 200_000, rounds: 15 }

/** Runs the lists bench on a pack in a file and puts its figures beside the budgets. Rejects when it is no pack. */
export async function listsReport(scale: ListsScale, path: string): Promise<Report> {
  const bytes = await Bun.file(path).bytes()
  const openMs = median(rounds(scale.rounds, () => timed(() => openPack(bytes))))
  const opened = openPack(bytes)
  if (opened.kind === "refused") throw new Error(opened.message)
  const { pack } = opened
  const names = [...pack.names()]
  const set = new Set(names)
  const random = seeded(7)
  const hits = Array.from({ length: scale.questions }, () => pick(names, random))
  const misses = hits.map(name => nearMiss(name, random)).filter(name => !set.has(name))
  const lookups = [
    { what: "hit", budget: "lists_hit", ...compared(pack, set, hits, scale.rounds) },
    { what: "miss", budget: "lists_miss", ...compared(pack, set, misses, scale.rounds) },
  ] as const
  const [held, filled] = [await packMemory(path), await setMemory(names)]
  return {
    bench: "lists",
    description: [
      `a pack of ${names.length} names against a Set<string> of them; ${scale.rounds} rounds of ${scale.questions}`,
      "private: what only this process has",
    ],
    figures: [
      ...lookups.flatMap(({ what, budget, packNs, setNs }) => [
        figure(`${what}: pack ÷ set`, "", packNs / setNs, budget),
        figure(`${what}: pack`, "ns", packNs),
        figure(`${what}: set`, "ns", setNs),
      ]),
      figure("private memory: pack ÷ set", "", held.privateBytes / filled.privateBytes, "lists_memory"),
      figure("private memory: pack", "MB", held.privateBytes / 1e6),
      figure("private memory: set", "MB", filled.privateBytes / 1e6),
      figure("file of the pack", "MB", bytes.length / 1e6),
      figure("file ÷ resident memory of the set", "", bytes.length / filled.residentBytes),
      figure("open the pack", "ms", openMs, "lists_open"),
      figure("fill the set", "ms", filled.ms),
    ],
  }
}

/** Nanoseconds that a question takes of each. */
function compared(pack: Pack, set: ReadonlySet<string>, names: readonly string[], count: number) {
  // A parser cuts the registrable domain out of the domain it has just read: it is at hand, as here.
  const registrables = names.map(registrableDomain)
  const isWhole = Uint8Array.from(names, (name, at) => (registrables[at] === name ? 1 : 0))
  const cut = cutter(names)
  const askPack = (some: readonly string[]) => {
    let held = 0
    for (let at = 0; at < some.length; at++) {
      const domain = some[at] ?? ""
      held += pack.match(domain, isWhole[at] === 1 ? domain : (registrables[at] ?? null)).mask
    }
    return held
  }
  const askSet = (some: readonly string[]) => {
    let held = 0
    for (let at = 0; at < some.length; at++) held += set.has(some[at] ?? "") ? 1 : 0
    return held
  }
  const pairs = rounds(count, round => {
    const [first, second] = round % 2 === 0 ? [askPack, askSet] : [askSet, askPack]
    const [one, two] = [cut(), cut()]
    gc(true)
    const times = [timed(() => first(one)), timed(() => second(two))]
    return round % 2 === 0 ? times : times.reverse()
  })
  const perQuestion = (at: number) => (median(pairs.map(pair => pair[at] ?? 0)) * 1e6) / names.length
  return { packNs: perQuestion(0), setNs: perQuestion(1) }
}

/** Gives the names anew on each call, cut out of one buffer: strings that nothing has hashed. */
function cutter(names: readonly string[]): () => readonly string[] {
  const buffer = Buffer.from(names.join(""), "latin1")
  const ends: number[] = []
  for (const name of names) ends.push((ends.at(-1) ?? 0) + name.length)
  return () => ends.map((end, at) => buffer.toString("latin1", ends[at - 1] ?? 0, end))
}

/** A name that differs in one character of its first label, or that has one more. */
function nearMiss(name: string, random: () => number): string {
  const at = Math.floor(random() * name.indexOf("."))
  const other = "abcdefghijklmnopqrstuvwxyz0123456789"[Math.floor(random() * 36)] ?? "q"
  return name.slice(0, at) + other + name.slice(at + Math.round(random()))
}

function timed(work: () => unknown): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

const rounds = <T>(count: number, round: (nth: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, nth) => round(nth))

const pick = (names: readonly string[], random: () => number): string =>
  names[Math.floor(random() * names.length)] ?? ""
