import { LIMITS } from "../../contract/limits.ts"

/** A local part as people would tell it apart: lower case, NFC, without its `+tag`. */
export type LocalPart = {
  /** As it stands in an address: in quotes only where it needs them. */
  readonly text: string
  readonly hasTag: boolean
}

/** A dot-atom that is in lower case, NFC and without a tag already. */
const PLAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
/** RFC 5321 `Dot-string`, RFC 6531 `atext`: any character outside ASCII counts as a letter. */
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*$/
/** RFC 5321 `Quoted-string`, RFC 6531 `qtextSMTP`. */
const QUOTED_STRING = /^"(?:[^"\\]|\\[ -~])*"$/

/**
 * Parses the local part of an address: a dot-atom or a quoted string, both with letters of any script. The text must be
 * free of control characters. Null where it is neither, or holds half a surrogate pair.
 *
 * The tag goes from the first `+` to the end, unless the local part starts with one. A quoted string has a tag only where
 * it says what a dot-atom could say. Where the tag leaves a dot behind (`jane.+news`), the rest is quoted (`"jane."`), for
 * that is how the mailbox is addressed without a tag.
 */
export function parseLocalPart(sent: string): LocalPart | null {
  // Most local parts need no more than this look.
  if (PLAIN.test(sent)) return { text: sent, hasTag: false }
  if (DOT_ATOM.test(sent)) return sent.isWellFormed() ? withoutTag(folded(sent)) : null
  if (!QUOTED_STRING.test(sent) || !sent.isWellFormed()) return null
  return withoutTag(folded(sent.slice(1, -1).replace(/\\(.)/g, "$1")))
}

/**
 * Where the `@` of an address stands whose local part is a dot-atom in lower case, NFC, without a tag and not too long; -1: it
 * is another, or none. It says nothing of what follows the `@`.
 */
export function plainLocalPartEnd(text: string): number {
  let before = DOT
  const end = Math.min(text.length, LIMITS.localPartOctetsMax + 1)
  for (let at = 0; at < end; at++) {
    const unit = UNITS[text.charCodeAt(at)]
    if (unit === AT && before !== DOT) return at
    if (unit !== ATOM && (unit !== DOT || before === DOT)) return -1
    before = unit
  }
  return -1
}

const OTHER = 0
const ATOM = 1
const DOT = 2
const AT = 3
/** What each ASCII character is in an address whose local part is plain. */
const UNITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const unit = String.fromCharCode(code)
  if (unit === ".") return DOT
  if (unit === "@") return AT
  return PLAIN.test(unit) ? ATOM : OTHER
})

/** Case and composition first, quoting after: NFC makes a `;` of U+037E, which then needs quotes. */
function folded(content: string): string {
  return content.toLowerCase().normalize("NFC")
}

function withoutTag(content: string): LocalPart {
  if (!DOT_ATOM.test(content)) return { text: quoted(content), hasTag: false }
  const plus = content.indexOf("+")
  if (plus <= 0) return { text: content, hasTag: false }
  const rest = content.slice(0, plus)
  return { text: rest.endsWith(".") ? quoted(rest) : rest, hasTag: true }
}

function quoted(content: string): string {
  return `"${content.replace(/["\\]/g, "\\$&")}"`
}
