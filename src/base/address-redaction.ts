/** Control characters other than white space, lone surrogates, and characters without a width or that change the text direction. */
const INVISIBLE = /(?!\s)\p{Cc}|[\p{Cs}\uFEFF\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069]/gu
const SPACES = /\s+/g

/** Other spellings of the at-sign and the dot: of other scripts, escaped once or more often, or used to obscure an address. */
const OTHER_AT_SIGNS =
  /[\uFF20\uFE6B]|%(?:25)*40|(?:\\|%)u0040|\\x40|&(?:amp;)*(?:#0*64(?!\d)|#x0*40(?![\da-f])|commat(?=;));?/gi
/** `jane (at) example.com`, also of at-signs that were escaped. */
const BRACKETED_AT_SIGNS = / ?[([{<] ?(?:at|@) ?[)\]}>] ?/gi
const OTHER_DOTS = / ?[([{<] ?dot ?[)\]}>] ?/gi
/** `jane dot doe at example dot com`: words instead of signs. */
const SPELLED_OUT = /(?: at | ?@ ?)[^\s@.]+ dot /i
const DOT_WORDS = / dot /gi
const AT_WORDS = / at (?=[^\s@.]+\.)/gi
/** A dot between the labels of a host, those of IDNA (RFC 3490 §3.1) and escaped ones too. */
const HOST_DOT = String.raw`(?:[.\u3002\uFF0E\uFF61]|[%=](?:25|3[dD])*2[eE]|&(?:#0*46|#x0*2[eE]|period);)`
const LABEL = String.raw`[^\s@.\u3002\uFF0E\uFF61%=&]+`
/** `jane @ example . com`; an at-sign between spaces without a host after it is prose, as is a dot that ends a sentence. */
const AT_AMONG_SPACES = new RegExp(
  ` ?@ ?(?=${LABEL}(?:${HOST_DOT}[^\\s@.]| ${HOST_DOT} ?[^\\s@.]|${HOST_DOT} [a-z]{2}))`,
  "g",
)
/** `jane=40example.com` of quoted-printable text (RFC 2045 §6.7). Without a host after it the text may be about the number 40. */
const QUOTED_PRINTABLE_AT = new RegExp(`=(?:3[dD])*40(?=${LABEL}(?:${HOST_DOT}| dot )\\p{L})`, "gu")
/** From a quote to the next one, with an at-sign that follows. Linear: no character is read twice. */
const QUOTED = /"(?:[^"\\]|\\.)*("@)?/gs

/** Replaces a local part. */
const REDACTED = "…"

/**
 * Takes addresses out of what people write, which is done before it is stored, logged or told. Returns the text on one line, without
 * control characters, with `…` for everything that may be a local part (each word, quoted text or comment before an at-sign), cut to
 * `lengthMax` characters. Null when nothing is left. Takes time linear in the length of the text. It never makes a text longer, and
 * leaves what it returned as it is, but for escapes that only came about by taking others out.
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
  const visible = text.replace(INVISIBLE, "").replace(SPACES, " ")
  const signs = visible.replace(OTHER_AT_SIGNS, "@").replace(BRACKETED_AT_SIGNS, "@").replace(OTHER_DOTS, ".")
  const line = signs.replace(QUOTED_PRINTABLE_AT, "@")
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
  const start = wordStart(part, end)
  return start === part.length ? part : part.slice(0, start) + REDACTED
}

/** Where the word begins that ends at a place. The words of `jane . doe` and `jane .doe` are one. */
function wordStart(part: string, end: number): number {
  let start = part.lastIndexOf(" ", end - 1) + 1
  while (start > 1 && start < part.length) {
    const isDotBefore = part[start - 2] === "." && (start === 2 || part[start - 3] === " ")
    if (!isDotBefore && part[start] !== ".") break
    start = part.lastIndexOf(" ", start - 2) + 1
  }
  return start
}
