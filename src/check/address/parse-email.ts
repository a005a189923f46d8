import { exceedsMarks } from "../../base/unicode.ts"
import { LIMITS } from "../../contract/limits.ts"
import { INVALID_HOST, IP_HOST, isAddressLiteral, type ParsedHost, parseHost } from "./parse-host.ts"
import type { SubjectFault } from "./subject.ts"
import { exceedsUtf8Bytes } from "./text.ts"

/** The parts of an address. A part that parses is set even if the address has a fault. */
export type ParsedEmail = {
  readonly host: ParsedHost
  /** Null: it does not parse, or the address is too long. */
  readonly localPart: LocalPart | null
  /** The whole address in normal form. Null: it has a fault. */
  readonly normalized: string | null
  readonly fault: SubjectFault | null
}

/**
 * Parses an address: RFC 5321 `Mailbox` with the letters of RFC 6531, without display names, comments, white space and
 * the obsolete forms. Lengths count bytes of the UTF-8 form as sent, quotes included. `too_long` takes precedence over
 * every other fault. The text must not contain control characters.
 */
export function parseEmail(text: string): ParsedEmail {
  // A domain contains no `@`, so the last one is the separator, even if a quoted local part contains others.
  const atSign = text.lastIndexOf("@")
  const sentHost = text.slice(atSign + 1)
  const host = atSign < 0 ? INVALID_HOST : parseEmailHost(sentHost)
  const sentLocalPart = text.slice(0, Math.max(atSign, 0))
  if (exceedsUtf8Bytes(text, LIMITS.addressBytesMax) || exceedsUtf8Bytes(sentLocalPart, LIMITS.localPartBytesMax)) {
    return { host, localPart: null, normalized: null, fault: "too_long" }
  }
  const localPart = parseLocalPart(sentLocalPart)
  if (localPart === null || host.name === null)
    return { host, localPart, normalized: null, fault: localPart === null ? "invalid_syntax" : host.fault }
  // Most addresses are in normal form already, so no new string is made.
  const isNormal = localPart.text === sentLocalPart && host.name === sentHost
  return { host, localPart, normalized: isNormal ? text : `${localPart.text}@${host.name}`, fault: null }
}

function parseEmailHost(text: string): ParsedHost {
  if (text.charCodeAt(0) === 91) return isAddressLiteral(text) ? IP_HOST : INVALID_HOST
  return parseHost(text, false)
}

/** A local part in normal form: lower case, NFC, without its `+tag`. */
type LocalPart = {
  /** As written in an address: quoted only if it has to be. */
  readonly text: string
  readonly hasTag: boolean
}

/** A dot-atom that is in normal form already: ASCII, lower case, no tag. */
const NORMAL_DOT_ATOM = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
/** RFC 5321 `Dot-string`, RFC 6531 `atext`: any character outside ASCII counts as a letter. */
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*$/
/** RFC 5321 `Quoted-string`, RFC 6531 `qtextSMTP`. */
const QUOTED_STRING = /^"(?:[^"\\]|\\[ -~])*"$/

/** Characters without a glyph, with which two addresses would look alike, and U+FFFD, which stands for a character that was lost. */
const INVISIBLE_OR_LOST = /[\p{Default_Ignorable_Code_Point}\uFFFD]/u

/**
 * Parses the local part of an address: a dot-atom or a quoted string, both with letters of any script. The text must not
 * contain control characters. Null: it is neither, or contains a lone surrogate, an invisible character, U+FFFD or more combining
 * marks in a row than any language needs.
 *
 * The tag runs from the first `+` to the end, unless the local part starts with `+`. A quoted string has a tag only if it
 * could also be written as a dot-atom. If removing the tag leaves a trailing dot (`jane.+news`), the rest is quoted
 * (`"jane."`), since that is how the mailbox is addressed without a tag.
 */
export function parseLocalPart(sent: string): LocalPart | null {
  // Most local parts match here.
  if (NORMAL_DOT_ATOM.test(sent)) return { text: sent, hasTag: false }
  if (INVISIBLE_OR_LOST.test(sent) || exceedsMarks(sent)) return null
  if (DOT_ATOM.test(sent)) return sent.isWellFormed() ? stripTag(lowerCaseNfc(sent)) : null
  if (!QUOTED_STRING.test(sent) || !sent.isWellFormed()) return null
  return stripTag(lowerCaseNfc(sent.slice(1, -1).replace(/\\(.)/g, "$1")))
}

/**
 * The index of the `@` of an address whose local part is a dot-atom in normal form and not too long; -1 for any other
 * text. What follows the `@` is not looked at.
 */
export function normalLocalPartEnd(text: string): number {
  let before = DOT
  const end = Math.min(text.length, LIMITS.localPartBytesMax + 1)
  for (let index = 0; index < end; index++) {
    const kind = CHARACTER_KINDS[text.charCodeAt(index)]
    if (kind === AT && before !== DOT) return index
    if (kind !== ATOM && (kind !== DOT || before === DOT)) return -1
    before = kind
  }
  return -1
}

const OTHER = 0
const ATOM = 1
const DOT = 2
const AT = 3
/** The kind of each ASCII character in an address whose local part is a dot-atom in normal form. */
const CHARACTER_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (character === ".") return DOT
  if (character === "@") return AT
  return NORMAL_DOT_ATOM.test(character) ? ATOM : OTHER
})

/** Runs before quoting: NFC turns U+037E into `;`, which needs quotes. */
function lowerCaseNfc(content: string): string {
  return content.toLowerCase().normalize("NFC")
}

function stripTag(content: string): LocalPart {
  if (!DOT_ATOM.test(content)) return { text: quote(content), hasTag: false }
  const plus = content.indexOf("+")
  if (plus <= 0) return { text: content, hasTag: false }
  const rest = content.slice(0, plus)
  return { text: rest.endsWith(".") ? quote(rest) : rest, hasTag: true }
}

function quote(content: string): string {
  return `"${content.replace(/["\\]/g, "\\$&")}"`
}
