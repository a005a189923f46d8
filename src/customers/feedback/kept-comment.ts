import { LIMITS } from "../../contract/limits.ts"

/** Controls that part no words, halves of characters, and what turns the direction of the text around it. */
const UNSEEN = /(?!\s)\p{Cc}|[\p{Cs}\uFEFF\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
const SPACES = /\s+/g

/** The at-sign and the dot as people, or forms, write them to avoid the signs themselves. */
const OTHER_AT_SIGNS = /[\uFF20\uFE6B]|%40|&(?:#0*64|#x0*40|commat);| ?[([{<] ?at ?[)\]}>] ?/gi
const OTHER_DOTS = / ?[([{<] ?dot ?[)\]}>] ?/gi
/** `jane dot doe at example dot com`: words stand for signs. */
const SPELT = /(?: at | ?@ ?)[^\s@.]+ dot /i
const DOT_WORDS = / dot /gi
const AT_WORDS = / at (?=[^\s@.]+\.)/gi
/** `jane @ example.com`; an at-sign among spaces that no host follows is prose. */
const AT_AMONG_SPACES = / ?@ ?(?=[^\s@.]+\.[^\s@.])/g
/** From a quote to the next one, which is taken too where an at-sign follows it. No character is looked at twice. */
const QUOTED = /"(?:[^"\\]|\\.)*("@)?/gs

/** What stands where a local part stood. */
const LEFT_OUT = "…"

/**
 * The comment as it may be kept: in one line, without control characters, with `…` for all that may be the local part of
 * an address (every word or quoted text before an at-sign, whatever it is), cut to `LIMITS.commentLengthMax` characters.
 * Null when nothing is left. The time it takes grows with the length of the text, and no faster.
 */
export function keptComment(text: string): string | null {
  const line = text.replace(UNSEEN, "").replace(SPACES, " ").replace(OTHER_AT_SIGNS, "@").replace(OTHER_DOTS, ".")
  const signed = SPELT.test(line) ? line.replace(DOT_WORDS, ".").replace(AT_WORDS, "@") : line
  const parts = signed
    .replace(AT_AMONG_SPACES, "@")
    .replace(QUOTED, (quoted, end?: string) => (end === undefined ? quoted : `${LEFT_OUT}@`))
    .split("@")
  const kept = parts.map((part, at) => (at === parts.length - 1 ? part : withoutLastWord(part))).join("@")
  // Cut at the very end: a cut before would leave the start of a local part without the at-sign that tells it.
  return [...kept.trim()].slice(0, LIMITS.commentLengthMax).join("").trimEnd() || null
}

function withoutLastWord(part: string): string {
  const start = part.lastIndexOf(" ") + 1
  return start === part.length ? part : part.slice(0, start) + LEFT_OUT
}
