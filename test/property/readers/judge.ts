import { writeFileSync } from "node:fs"
import { lowerHalfMean } from "../../../bench/report/processor-time.ts"
import { interleaved } from "../../../bench/report/rounds.ts"
import { statusBytes } from "../../../bench/servers/process-stats.ts"
import { Dice } from "../../fuzz/dice.ts"
import { costMs, longestPieceMs, readOnce } from "./costs.ts"
import { framed, type Reader, repeated } from "./reader.ts"
import { type Case, costliest, type Grower, repetitions, shapes, soups } from "./search.ts"

/** What no reader may do: bounds of DECISIONS 107. */
export const READER_BOUNDS = {
  /** Work for twice the bytes, by that for the bytes. */
  growthMax: 2.5,
  /** Processor time a byte, by that of a plain input. */
  plainTimesMax: 20,
  /** The longest time without giving the thread back, in milliseconds. */
  pieceMsMax: 5,
} as const

/** How much is searched, and how large the texts become. */
export type Effort = {
  readonly seed: number
  /** How many cases are tried of each reader. */
  readonly cases: number
  readonly screenChars: number
  readonly fullChars: number
  /** How many of the most expensive cases are looked at more closely. */
  readonly kept: number
  readonly rounds: number
}

/** The worst of what was found. NaN: nothing took long enough to tell. */
export type Worst = { readonly value: number; readonly description: string }

/** What the search found of one reader. */
export type Judged = {
  readonly name: string
  readonly cases: number
  readonly plainNsPerByte: number
  readonly growth: Worst
  readonly plainTimes: Worst
  readonly pieceMs: Worst
  readonly memoryMb: Worst
  readonly faults: readonly string[]
}

const NONE: Worst = { value: Number.NaN, description: "" }
const worse = (one: Worst, other: Worst): Worst => (Number.isNaN(one.value) || other.value > one.value ? other : one)

/** Shorter costs tell nothing of growth. */
const COST_MS_MIN = 3
/** A case that seems to break a bound is measured again, so that only what lasts counts. */
const TRIES_MAX = 5

/** Searches the most expensive bytes of a reader, and compares what they cost with the bounds. */
export async function judgeReader(reader: Reader, effort: Effort): Promise<Judged> {
  const growers = await searchCases(reader, effort)
  const length = Math.min(effort.fullChars, Math.floor(reader.bytesMax * 0.9))
  const [plainMs = Number.NaN] = await leastMs(reader, [repeated(reader.plain, length)], 2 * effort.rounds)
  const plainPerByte = plainMs / length
  let [growth, plainTimes, pieceMs] = [NONE, NONE, NONE]
  for (const { description, textOf } of growers) {
    const told = (value: number): Worst => ({ value, description })
    // A cost that grows with the square shows long before the full length.
    const isSlow = (await costMs(reader, framed(reader, textOf(length / 4)))) > SLOW_MS
    const size = isSlow ? length / 4 : length
    plainTimes = worse(plainTimes, told(await plainTimesOf(reader, textOf(size), plainPerByte, effort.rounds)))
    for (const each of [await tellingSize(reader, textOf, size), SHORT_CHARS])
      growth = worse(growth, told(await growthOf(reader, textOf, each, effort.rounds)))
  }
  const pieceChars = Math.min(reader.bytesMax * 0.9, PIECE_CHARS)
  if (reader.isApart === undefined)
    for (const { description, textOf } of growers.slice(0, PIECES_KEPT))
      pieceMs = worse(pieceMs, { value: await pieceOf(reader, textOf, pieceChars, effort), description })
  const memoryMb = await memoryOf(reader, growers.slice(0, MEMORY_KEPT))
  const found = { growth, plainTimes, pieceMs, memoryMb }
  const judged = { name: reader.name, cases: effort.cases, plainNsPerByte: plainPerByte * 1e6, ...found }
  return { ...judged, faults: faultsOf(reader, judged) }
}

/** A few cases of a quick search, and a bound far from every noise: the square of eight is 64. */
const QUICK = { seed: 1, cases: 48, screenChars: 1024, fullChars: 60_000, kept: 2, rounds: 2 } as const
const QUICK_GROWTH_MAX = 24
/** A collection of garbage takes less, and the square of a few kilobytes more. */
const QUICK_COST_MS_MIN = 20
/** What costs more needs no second try. */
const QUICK_COST_MS_MAX = 1000

/** The cases of a quick search that take far more work for eight times the bytes than eight times as much. */
export async function growsTooFast(reader: Reader): Promise<readonly string[]> {
  const faults: string[] = []
  const longest = Math.min(QUICK.fullChars, Math.floor(reader.bytesMax * 0.9))
  for (const { description, textOf } of await searchCases(reader, QUICK))
    for (const length of [SHORT_CHARS, longest]) {
      const times = await leastTimes(reader, textOf, length)
      if (times >= QUICK_GROWTH_MAX) faults.push(`${times.toFixed(0)} times the work of an eighth: ${description}`)
    }
  return faults
}

/** The work for a length by that for an eighth of it, as often as it takes to see that it is no noise. 1: it is too little to tell. */
async function leastTimes(reader: Reader, textOf: Grower["textOf"], length: number): Promise<number> {
  const [part, whole] = [framed(reader, textOf(length / 8)), framed(reader, textOf(length))]
  let [least, leastPart] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let tries = 0; tries < QUICK_TRIES_MAX; tries++) {
    // The heap of earlier readers, which the longer text alone would have collected.
    if (tries > 0) Bun.gc(true)
    leastPart = Math.min(leastPart, await costMs(reader, part))
    least = Math.min(least, await costMs(reader, whole))
    if (least < QUICK_COST_MS_MIN) return 1
    if (least / leastPart < QUICK_GROWTH_MAX || least > QUICK_COST_MS_MAX) break
  }
  return least / leastPart
}

/** Some readers cut what is longer than a few kilobytes: what they do with less shows here. */
const SHORT_CHARS = 8192

const QUICK_TRIES_MAX = 16

const SLOW_MS = 100
/** A text of this length shows whether a reader gives the thread back, for so many of the most expensive cases. */
const PIECE_CHARS = 262_144
const PIECES_KEPT = 3
/** Texts of this length show what memory is held, unpacked ones for the readers of gzip. */
const MEMORY_CHARS = 4_194_304
const MEMORY_UNPACKED_CHARS = 8_388_608
const MEMORY_KEPT = 2

/**
 * The most expensive cases: what was expensive once; and of a search that tries so many in four ways: every text of tokens that is short enough, again and again;
 * pairs of tokens in every shape; and by chance soups, and longer texts again and again.
 */
async function searchCases(reader: Reader, effort: Effort): Promise<readonly Grower[]> {
  const { seed, cases, screenChars, kept } = effort
  const { tokens } = reader
  const share = Math.ceil(cases / 4)
  const length = [4, 3, 2].find(each => tokens.length ** each <= share) ?? 2
  const once = [...repetitions(reader.once ?? [], 1)]
  const found: Case[] = []
  for (const growers of [
    some([...repetitions(tokens, length)], share, new Dice(seed, 2)),
    some([...shapes(tokens)], share, new Dice(seed, 3)),
    soups(new Dice(seed, 0), tokens).take(share),
    longRepetitions(new Dice(seed, 1), tokens, length + 1).take(share),
  ])
    found.push(...(await costliest(reader, growers, screenChars, kept)))
  const dearest = found.toSorted((one, other) => other.cost - one.cost)
  return [...once, ...dearest.slice(0, kept).map(({ grower }) => grower)]
}

/** So many of them by chance; all, if there are no more. */
function some(growers: readonly Grower[], count: number, dice: Dice): readonly Grower[] {
  if (growers.length <= count) return growers
  return dice.times(count, () => growers[dice.below(growers.length)]).filter(grower => grower !== undefined)
}

/** Texts of so many tokens, or some more, by chance, without an end. */
function* longRepetitions(dice: Dice, tokens: readonly string[], countMin: number): Generator<Grower> {
  for (;;) {
    const unit = dice.times(countMin + dice.below(2), () => tokens[dice.below(tokens.length)] ?? "").join("")
    yield { description: `${JSON.stringify(unit)} again and again`, textOf: length => repeated(unit, length) }
  }
}

/** A size at which a cost that grows with the square would show. */
async function tellingSize(reader: Reader, textOf: Grower["textOf"], least: number): Promise<number> {
  const largest = Math.min(reader.bytesMax * 0.9, MEMORY_CHARS)
  let size = least
  while (size * 4 <= largest && (await costMs(reader, framed(reader, textOf(size)))) < COST_MS_MIN) size *= 4
  return size
}

async function leastMs(reader: Reader, texts: readonly string[], rounds: number): Promise<readonly number[]> {
  const inputs = texts.map(text => framed(reader, text))
  const names = inputs.map((_, at) => String(at))
  const costs = await interleaved(
    names,
    rounds,
    async at => await costMs(reader, inputs[Number(at)] ?? new Uint8Array()),
  )
  return names.map(name => lowerHalfMean(costs[name] ?? []))
}

/** Tries again while the value is beyond the bound. */
async function lasting(bound: number, measure: (tries: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 1; tries <= TRIES_MAX && !(least <= bound); tries++) {
    const value = await measure(tries)
    if (Number.isNaN(value)) return value
    least = Math.min(least, value)
  }
  return least
}

/** Work for twice the bytes, as the mean of two doublings: tables grow by steps. */
const growthOf = (reader: Reader, textOf: Grower["textOf"], length: number, rounds: number): Promise<number> =>
  lasting(READER_BOUNDS.growthMax, async tries => {
    const [part = 0, whole = 0] = await leastMs(reader, [textOf(length / 4), textOf(length)], rounds * tries)
    return whole < COST_MS_MIN ? Number.NaN : Math.sqrt(whole / part)
  })

const plainTimesOf = (reader: Reader, text: string, plainPerByte: number, rounds: number): Promise<number> =>
  lasting(READER_BOUNDS.plainTimesMax, async tries => {
    const [ms = 0] = await leastMs(reader, [text], rounds * tries)
    return ms < COST_MS_MIN ? Number.NaN : ms / Math.max(1, text.length) / plainPerByte
  })

/** A collection of garbage keeps the thread too, but not for longer where the text is longer. */
async function pieceOf(reader: Reader, textOf: Grower["textOf"], length: number, { rounds }: Effort): Promise<number> {
  const leastPieceMs = async (text: string): Promise<number> => {
    const bytes = framed(reader, text)
    let least = Number.POSITIVE_INFINITY
    for (let round = 0; round < 2 * rounds && least > READER_BOUNDS.pieceMsMax; round++)
      least = Math.min(least, await longestPieceMs(reader, bytes))
    return least
  }
  const longest = await leastPieceMs(textOf(length))
  if (longest <= READER_BOUNDS.pieceMsMax) return longest
  return longest > 1.5 * (await leastPieceMs(textOf(length / 4))) ? longest : READER_BOUNDS.pieceMsMax
}

/** By how much the memory of the process rises above what it had, in megabytes. Only Linux tells. */
async function memoryOf(reader: Reader, growers: readonly Grower[]): Promise<Worst> {
  let most = NONE
  if (process.platform !== "linux") return most
  for (const { description, textOf } of growers) {
    const plain = framed(reader, textOf(Math.min(reader.bytesMax * 0.9, MEMORY_CHARS)))
    const inputs = [plain]
    if (reader.isUnpacking) inputs.push(Bun.gzipSync(framed(reader, textOf(MEMORY_UNPACKED_CHARS))))
    for (const bytes of inputs) {
      Bun.gc(true)
      // The highest value is forgotten (proc(5), clear_refs).
      writeFileSync("/proc/self/clear_refs", "5")
      const before = statusBytes(process.pid, "VmRSS")
      await readOnce(reader, bytes)
      const rise = (statusBytes(process.pid, "VmHWM") - before) / 1_048_576
      most = worse(most, { value: rise, description })
    }
  }
  return most
}

function faultsOf(
  reader: Reader,
  { growth, plainTimes, pieceMs, memoryMb }: Omit<Judged, "faults">,
): readonly string[] {
  const { growthMax, plainTimesMax, pieceMsMax } = READER_BOUNDS
  const faults: string[] = []
  const tell = (worst: Worst, max: number, says: string): void => {
    if (worst.value > max)
      faults.push(`${reader.name}: ${says} ${worst.value.toFixed(1)}, at most ${max}: ${worst.description}`)
  }
  tell(growth, growthMax, "twice the bytes take times")
  tell(plainTimes, plainTimesMax, "a byte takes the time of plain ones")
  tell(pieceMs, pieceMsMax, "it keeps the thread for ms")
  tell(memoryMb, reader.memoryBytesMax / 1_048_576, "it takes MiB")
  return faults
}
