/** Control characters other than white space, lone surrogates, and characters that change the text direction. */
const INVISIBLE = /(?!\s)\p{Cc}|[\p{Cs}\uFEFF\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
const SPACES = /\s+/g

/** Other spellings of the at-sign and the dot, used to obscure an address. */
const OTHER_AT_SIGNS = /[\uFF20\uFE6B]|%40|&(?:#0*64|#x0*40|commat);| ?[([{<] ?at ?[)\]}>] ?/gi
const OTHER_DOTS = / ?[([{<] ?dot ?[)\]}>] ?/gi
/** `jane dot doe at example dot com`: words instead of signs. */
const SPELLED_OUT = /(?: at | ?@ ?)[^\s@.]+ dot /i
const DOT_WORDS = / dot /gi
const AT_WORDS = / at (?=[^\s@.]+\.)/gi
/** `jane @ example.com`; an at-sign between spaces without a host after it is prose. */
const AT_AMONG_SPACES = / ?@ ?(?=[^\s@.]+\.[^\s@.])/g
/** From a quote to the next one, with an at-sign that follows. Linear: no character is read twice. */
const QUOTED = /"(?:[^"\\]|\\.)*("@)?/gs

/** Replaces a local part. */
const REDACTED = "…"

/**
 * Returns the text in the form that may be stored: on one line, without control characters, with `…` for everything that
 * may be a local part (each word or quoted text before an at-sign), cut to `lengthMax` characters. Null when
 * nothing is left. Takes time linear in the length of the text.
 */
export function redactAddresses(text: string, lengthMax: number): string | null {
  const line = text.replace(INVISIBLE, "").replace(SPACES, " ").replace(OTHER_AT_SIGNS, "@").replace(OTHER_DOTS, ".")
  const signed = SPELLED_OUT.test(line) ? line.replace(DOT_WORDS, ".").replace(AT_WORDS, "@") : line
  const parts = signed
    .replace(AT_AMONG_SPACES, "@")
    .replace(QUOTED, (quoted, end?: string) => (end === undefined ? quoted : `${REDACTED}@`))
    .split("@")
  const kept = parts.map((part, at) => (at === parts.length - 1 ? part : withoutLastWord(part))).join("@")
  // Cut last: an earlier cut could leave the start of a local part without the at-sign that marks it.
  return [...kept.trim()].slice(0, lengthMax).join("").trimEnd() || null
}

function withoutLastWord(part: string): string {
  const start = part.lastIndexOf(" ") + 1
  return start === part.length ? part : part.slice(0, start) + REDACTED
}
