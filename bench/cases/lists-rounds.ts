/**
 * Does a pack answer as fast as a `Set<string>` of the same names? Times are medians of rounds in alternating order. A fresh string is cut out of a buffer for each question, as a parser does, so its hash
 * is not known yet.
 */

import { gc } from "bun"
import { openPack, type Pack } from "../../src/check/lists/pack/pack.ts"
import { registrableDomain } from "../../src/check/lists/sources/normalized-name.ts"
import { seeded } from "../load/seeded-random.ts"
import { median } from "../report/rounds.ts"

/** Names for the bench, and how much work to do. */
export type ListsBenchOptions = {
  readonly pack: Uint8Array
  /** Names that the pack holds, without suffix patterns. */
  readonly names: readonly string[]
  /** How many questions a round asks. */
  readonly questions: number
  readonly rounds: number
}

/** Nanoseconds a question, bytes, and milliseconds; `ratio` is the pack's time by the set's. */
export type ListsFigures = {
  readonly names: number
  readonly openMs: number
  readonly lookups: readonly {
    readonly what: string
    readonly packNs: number
    readonly setNs: number
    readonly ratio: number
  }[]
}

/** Measures both, side by side. Throws when the bytes are no pack. */
export function listsBench(options: ListsBenchOptions): ListsFigures {
  const openMs = median(rounds(options.rounds, () => timed(() => openPack(options.pack))))
  const opened = openPack(options.pack)
  if (opened.kind === "refused") throw new Error(opened.message)
  const set = new Set(options.names)
  const random = seeded(7)
  const hits = Array.from({ length: options.questions }, () => pick(options.names, random))
  const misses = hits.map(name => nearMiss(name, random)).filter(name => !set.has(name))
  return {
    names: options.names.length,
    openMs,
    lookups: [
      compared("hit", opened.pack, set, hits, options.rounds),
      compared("miss", opened.pack, set, misses, options.rounds),
    ],
  }
}

function compared(what: string, pack: Pack, set: ReadonlySet<string>, names: readonly string[], count: number) {
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
  const [packNs, setNs] = [perQuestion(0), perQuestion(1)]
  return { what, packNs, setNs, ratio: packNs / setNs }
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
