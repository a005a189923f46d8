import { domainToUnicode } from "node:url"
import CONFUSABLES from "../../../data/confusables.txt" with { type: "text" }

/** What an internationalised label looks like. */
export type Skeleton = {
  /** The ASCII text that it looks like, lower case, in the sense of UTS 39 §4 with marks removed. */
  readonly text: string
  /**
   * `accented`: Latin letters as natural spelling has them (é, ø, ı), so that an honest name may look the same.
   * `whole`: no letter is Latin. `mixed`: anything else: scripts mixed, or Latin letters that no natural spelling has.
   */
  readonly confusableKind: "accented" | "whole" | "mixed"
}

/** Latin letters of natural spellings that do not decompose into an ASCII letter and marks. */
const NATURAL_LATIN_LETTERS = new Set("ıłøđħŧßæœ")

let prototypes: ReadonlyMap<string, string> | null = null

/**
 * The ASCII text that an A-label (`xn--…`) looks like when it is shown. Null: it does not decode, or holds a letter
 * that looks like no ASCII text.
 */
export function skeletonOf(aLabel: string): Skeleton | null {
  const shown = domainToUnicode(aLabel)
  if (shown === "" || shown === aLabel) return null
  prototypes ??= parsePrototypes(CONFUSABLES)
  let text = ""
  let natural = true
  let latin = false
  for (const letter of shown.normalize("NFD")) {
    if (/\p{M}/u.test(letter)) continue
    const ascii = letter < "\u0080" ? letter : prototypes.get(letter)
    if (ascii === undefined) return null
    text += ascii
    natural &&= letter < "\u0080" || NATURAL_LATIN_LETTERS.has(letter)
    latin ||= /\p{Script=Latin}/u.test(letter)
  }
  return { text, confusableKind: natural ? "accented" : latin ? "mixed" : "whole" }
}

/** Reads lines of `code point in hex, space, ASCII text`; lines that begin with `#` are remarks. */
function parsePrototypes(lines: string): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const line of lines.split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    const space = line.indexOf(" ")
    read.set(String.fromCodePoint(Number.parseInt(line.slice(0, space), 16)), line.slice(space + 1))
  }
  return read
}

/**
 * Folds a host label so that texts that can be taken for each other become one: `rn` and `m`, `vv` and `w`, `cl` and
 * `d`; `0` and `o`; `1`, `i` and `l`; and the digits that are written for letters (3 e, 4 a, 5 s, 7 t, 8 b).
 */
export function foldConfusables(label: string): string {
  let folded = ""
  for (let at = 0; at < label.length; at++) {
    const pair = foldedPairAt(label, at, label.length)
    if (pair !== 0) at++
    folded += String.fromCharCode(pair === 0 ? foldedUnit(label.charCodeAt(at)) : pair)
  }
  return folded
}

/**
 * A 32-bit FNV-1a hash of `fold(label.slice(start, end))`, made without a string: it stands in the path of every check.
 */
export function foldedHash(label: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) {
    const pair = foldedPairAt(label, at, end)
    if (pair !== 0) at++
    hash = Math.imul(hash ^ (pair === 0 ? foldedUnit(label.charCodeAt(at)) : pair), 0x01000193)
  }
  return hash >>> 0
}

const [C, D, L, M, N, R, V, W, ONE] = [..."cdlmnrvw1"].map(letter => letter.charCodeAt(0))

/** The letter that two letters at a position look like, as a code unit; 0: none. */
function foldedPairAt(label: string, at: number, end: number): number {
  const first = label.charCodeAt(at)
  if (first !== R && first !== V && first !== C) return 0
  const second = at + 1 < end ? label.charCodeAt(at + 1) : 0
  if (first === R) return second === N ? (M ?? 0) : 0
  if (first === V) return second === V ? (W ?? 0) : 0
  return second === L || second === ONE ? (D ?? 0) : 0
}

const FOLDED_UNITS = Uint8Array.from({ length: 128 }, (_, unit) => unit)
for (const [from, to] of ["0o", "1l", "il", "3e", "4a", "5s", "7t", "8b"]) {
  if (from !== undefined && to !== undefined) FOLDED_UNITS[from.charCodeAt(0)] = to.charCodeAt(0)
}

const foldedUnit = (unit: number): number => FOLDED_UNITS[unit] ?? unit
