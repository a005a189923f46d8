/** Control characters other than white space, lone surrogates, and characters that change the text direction. */
const INVISIBLE = /(?!\s)\p{Cc}|[\p{Cs}\uFEFF\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
const SPACES = /\s+/g

/** Other spellings of the at-sign and the dot: of other scripts, escaped once or more often, or used to obscure an address. */
const OTHER_AT_SIGNS =
  /[\uFF20\uFE6B]|%(?:25)*40|\\u0040|\\x40|&(?:amp;)*(?:#0*64|#x0*40|commat);| ?[([{<] ?at ?[)\]}>] ?/gi
const OTHER_DOTS = / ?[([{<] ?dot ?[)\]}>] ?/gi
/** `jane dot doe at example dot com`: words instead of signs. */
const SPELLED_OUT = /(?: at | ?@ ?)[^\s@.]+ dot /i
const DOT_WORDS = / dot /gi
const AT_WORDS = / at (?=[^\s@.]+\.)/gi
/** `jane @ example.com`; an at-sign between spaces without a host after it is prose. The dots are those of IDNA (RFC 3490 §3.1). */
const AT_AMONG_SPACES = / ?@ ?(?=[^\s@.\u3002\uFF0E\uFF61]+[.\u3002\uFF0E\uFF61][^\s@.])/g
/** From a quote to the next one, with an at-sign that follows. Linear: no character is read twice. */
const QUOTED = /"(?:[^"\\]|\\.)*("@)?/gs

/** Replaces a local part. */
const REDACTED = "…"

/**
 * Takes addresses out of what people write, which is done before it is stored, logged or told. Returns the text on one line, without
 * control characters, with `…` for everything that may be a local part (each word, quoted text or comment before an at-sign), cut to
 * `lengthMax` characters. Null when nothing is left. Takes time linear in the length of the text. It never makes a text longer, and
 * leaves what it returned as it is.
 */
export function redactAddresses(text: string, lengthMax: number): string | null {
  // Cut last: an earlier cut could leave the start of a local part without the at-sign that marks it.
  return [...withoutLocalParts(plainLine(text)).trim()].slice(0, lengthMax).join("").trimEnd() || null
}

/** The same for a text of several lines. A line without an address stays as it is. */
export const redactLines = (text: string): string =>
  text
    .split("\n")
    .map(line => (holdsAddress(line) ? withoutLocalParts(plainLine(line)).trimEnd() : line))
    .join("\n")

/** Whether `redactAddresses` takes an address out: for what cannot be stored changed, such as a URL. */
export function holdsAddress(text: string): boolean {
  const line = plainLine(text)
  return withoutLocalParts(line) !== line
}

/** Whether a path or a query of a URL holds an address, in any percent-encoding. `https://example.com/@team` holds none. */
export const urlHoldsAddress = (url: string): boolean =>
  url
    .replace(OTHER_AT_SIGNS, "@")
    .split(/[/?&=#;,]/)
    .some(part => holdsAddress(decodePart(part)))

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // a stray percent sign, which a receiver may decode as it likes
  }
}

/** The text on one line, with every at-sign as `@`. */
function plainLine(text: string): string {
  const line = text.replace(INVISIBLE, "").replace(SPACES, " ").replace(OTHER_AT_SIGNS, "@").replace(OTHER_DOTS, ".")
  const signed = SPELLED_OUT.test(line) ? line.replace(DOT_WORDS, ".").replace(AT_WORDS, "@") : line
  return signed.replace(AT_AMONG_SPACES, "@")
}

function withoutLocalParts(line: string): string {
  const parts = line.replace(QUOTED, (quoted, end?: string) => (end === undefined ? quoted : `${REDACTED}@`)).split("@")
  return parts.map((part, at) => (at === parts.length - 1 ? part : withoutLastWord(part))).join("@")
}

/** The part without its last word. Comments after a word belong to it (RFC 5322 §3.4.1). */
function withoutLastWord(part: string): string {
  let end = part.length
  while (part[end - 1] === ")") {
    const from = part.lastIndexOf("(", end - 1)
    if (from < 0) break
    end = part.slice(0, from).trimEnd().length
  }
  const start = part.lastIndexOf(" ", end - 1) + 1
  return start === part.length ? part : part.slice(0, start) + REDACTED
}
