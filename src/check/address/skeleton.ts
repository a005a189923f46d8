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
  readonly letters: "accented" | "whole" | "mixed"
}

/** Latin letters of natural spellings that do not decompose into an ASCII letter and marks. */
const NATURAL = new Set("ıłøđħŧßæœ")

let prototypes: ReadonlyMap<string, string> | null = null

/**
 * The ASCII text that an A-label (`xn--…`) looks like when it is shown. Null: it does not decode, or holds a letter
 * that looks like no ASCII text.
 */
export function skeleton(aLabel: string): Skeleton | null {
  const shown = domainToUnicode(aLabel)
  if (shown === "" || shown === aLabel) return null
  prototypes ??= readPrototypes(CONFUSABLES)
  let text = ""
  let natural = true
  let latin = false
  for (const letter of shown.normalize("NFD")) {
    if (/\p{M}/u.test(letter)) continue
    const ascii = letter < "\u0080" ? letter : prototypes.get(letter)
    if (ascii === undefined) return null
    text += ascii
    natural &&= letter < "\u0080" || NATURAL.has(letter)
    latin ||= /\p{Script=Latin}/u.test(letter)
  }
  return { text, letters: natural ? "accented" : latin ? "mixed" : "whole" }
}

/** Reads lines of `code point in hex, space, ASCII text`; lines that begin with `#` are remarks. */
function readPrototypes(lines: string): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const line of lines.split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    const space = line.indexOf(" ")
    read.set(String.fromCodePoint(Number.parseInt(line.slice(0, space), 16)), line.slice(space + 1))
  }
  return read
}
