import { domainToUnicode } from "node:url"
import CONFUSABLES from "../../../data/confusables.txt" with { type: "text" }

/** The look of an internationalised label (UTS 39 §4, with combining marks removed). */
export type Skeleton = {
  /** The ASCII text that it looks like, in lower case. */
  readonly text: string
  /**
   * `accented`: only Latin letters that natural spelling uses (é, ø, ı), so it may be a real name. `whole`: no letter is
   * Latin (whole-script confusable). `mixed`: mixed scripts, or Latin letters that natural spelling does not use.
   */
  readonly confusableKind: "accented" | "whole" | "mixed"
}

/** Latin letters of natural spelling that do not decompose into an ASCII letter and marks. */
const NATURAL_LATIN_LETTERS = new Set("ıłøđħŧßæœ")

let prototypes: ReadonlyMap<string, string> | null = null

/**
 * The skeleton of an A-label (`xn--…`) as it is displayed. Null: the label is no A-label, does not decode, or contains a letter
 * that does not look like any ASCII text.
 */
export function skeletonOf(label: string): Skeleton | null {
  if (!label.startsWith("xn--")) return null
  const displayed = domainToUnicode(label)
  if (displayed === "" || displayed === label) return null
  prototypes ??= parsePrototypes(CONFUSABLES)
  let text = ""
  let natural = true
  let latin = false
  for (const letter of displayed.normalize("NFD")) {
    if (letter < "\u0080") {
      text += letter
      latin ||= /[a-z]/i.test(letter)
      continue
    }
    if (/\p{M}/u.test(letter)) continue
    const ascii = prototypes.get(letter)
    if (ascii === undefined) return null
    text += ascii
    natural &&= NATURAL_LATIN_LETTERS.has(letter)
    latin ||= /\p{Script=Latin}/u.test(letter)
  }
  return { text, confusableKind: natural ? "accented" : latin ? "mixed" : "whole" }
}

/** Parses lines of `code point in hex, space, ASCII text`; lines that start with `#` are comments. */
function parsePrototypes(lines: string): ReadonlyMap<string, string> {
  const parsed = new Map<string, string>()
  for (const line of lines.split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    const space = line.indexOf(" ")
    parsed.set(String.fromCodePoint(Number.parseInt(line.slice(0, space), 16)), line.slice(space + 1))
  }
  return parsed
}

/**
 * Whether two host labels look alike. These do: `rn` and `m`, `vv` and `w`, `cl` and `d`; `0` and `o`; `1`, `i` and `l`; and digits
 * and the letters that they stand for (3 e, 4 a, 5 s, 7 t, 8 b).
 */
export function looksLike(label: string, other: string): boolean {
  let at = 0
  for (let index = 0; index < label.length; index++) {
    if (at >= other.length) return false
    const pair = foldedPairAt(label, index, label.length)
    const otherPair = foldedPairAt(other, at, other.length)
    const unit = pair === 0 ? foldedUnit(label.charCodeAt(index)) : pair
    if (unit !== (otherPair === 0 ? foldedUnit(other.charCodeAt(at)) : otherPair)) return false
    if (pair !== 0) index++
    at += otherPair === 0 ? 1 : 2
  }
  return at === other.length
}

/** A 32-bit hash (FNV-1a) of `label.slice(start, end)` that labels share if they look alike. */
export function foldedHash(label: string, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0
  for (let index = start; index < end; index++) {
    const pair = foldedPairAt(label, index, end)
    if (pair !== 0) index++
    hash = Math.imul(hash ^ (pair === 0 ? foldedUnit(label.charCodeAt(index)) : pair), 0x01000193)
  }
  return hash
}

/** A text as `foldText` writes it. The arrays have room for the longest label, and can be used again. */
export type FoldedText = {
  readonly units: Uint8Array
  /** By unit: where it starts and ends in the text. */
  readonly starts: Uint8Array
  readonly ends: Uint8Array
  /** How many units there are. */
  length: number
  /** Whether the text has two letters that look like one. */
  hasPairs: boolean
}

/**
 * Writes the look of an ASCII text without its hyphens into `folded`; texts that look alike have the same units. `withPairs`: two
 * letters that look like one are one unit. What is longer than the arrays is left out.
 */
export function foldText(text: string, withPairs: boolean, folded: FoldedText): void {
  let length = 0
  folded.hasPairs = false
  for (let index = 0; index < text.length && length < folded.units.length; index++) {
    const code = text.charCodeAt(index)
    if (code === HYPHEN) continue
    const pair = foldedPairAt(text, index, text.length)
    if (pair !== 0) folded.hasPairs = true
    folded.starts[length] = index
    if (withPairs && pair !== 0) index++
    folded.units[length] = withPairs && pair !== 0 ? pair : foldedUnit(code)
    folded.ends[length] = index + 1
    length++
  }
  folded.length = length
}

const HYPHEN = "-".charCodeAt(0)

const [C, D, L, M, N, R, V, W, ONE] = [..."cdlmnrvw1"].map(letter => letter.charCodeAt(0))

/** The code unit of the one letter that the two letters at `index` look like; 0: none. */
function foldedPairAt(label: string, index: number, end: number): number {
  const first = label.charCodeAt(index)
  if (first !== R && first !== V && first !== C) return 0
  const second = index + 1 < end ? label.charCodeAt(index + 1) : 0
  if (!isFoldedPair(first, second)) return 0
  return (first === R ? M : first === V ? W : D) ?? 0
}

/** Whether two code units beside each other look like one letter. */
export const isFoldedPair = (first: number, second: number): boolean =>
  first === R ? second === N : first === V ? second === V : first === C && (second === L || second === ONE)

const FOLDED_UNITS = Uint8Array.from({ length: 128 }, (_, unit) => unit)
for (const [from, to] of ["0o", "1l", "il", "3e", "4a", "5s", "7t", "8b"]) {
  if (from !== undefined && to !== undefined) FOLDED_UNITS[from.charCodeAt(0)] = to.charCodeAt(0)
}

/** The code unit that a unit of ASCII is folded into. */
export const foldedUnit = (unit: number): number => FOLDED_UNITS[unit] ?? unit
