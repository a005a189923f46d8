import { LIMITS } from "../../contract/limits.ts"
import { INVALID_HOST, IP_HOST, isAddressLiteral, type ParsedHost, parseHost } from "./parse-host.ts"
import type { SubjectFault } from "./subject.ts"
import { exceedsUtf8Bytes } from "./text.ts"

/** An address taken apart. Both parts are read as far as they go, whatever the fault. */
export type ParsedEmail = {
  readonly host: ParsedHost
  /** Null: it does not parse, or is too long. */
  readonly localPart: LocalPart | null
  /** The whole address in its normal form. Null: it has a fault. */
  readonly normalized: string | null
  readonly fault: SubjectFault | null
}

/**
 * Parses an address: RFC 5321 `Mailbox` with the letters of RFC 6531. No display name, no comment, no white space, none
 * of the obsolete forms. Lengths are octets of the UTF-8 form as sent, quotes counted; an address that is too long is
 * `too_long` whatever else is wrong with it. The text must be free of control characters.
 */
export function parseEmail(text: string): ParsedEmail {
  // A domain holds no `@`, so the last one splits, even where a quoted local part has others.
  const at = text.lastIndexOf("@")
  const sentHost = text.slice(at + 1)
  const host = at < 0 ? INVALID_HOST : parseEmailHost(sentHost)
  const sent = text.slice(0, Math.max(at, 0))
  if (exceedsUtf8Bytes(text, LIMITS.addressBytesMax) || exceedsUtf8Bytes(sent, LIMITS.localPartBytesMax)) {
    return { host, localPart: null, normalized: null, fault: "too_long" }
  }
  const localPart = parseLocalPart(sent)
  if (localPart === null || host.name === null)
    return { host, localPart, normalized: null, fault: localPart === null ? "invalid_syntax" : host.fault }
  // Most addresses are in their normal form, and are not put together again.
  const isNormal = localPart.text === sent && host.name === sentHost
  return { host, localPart, normalized: isNormal ? text : `${localPart.text}@${host.name}`, fault: null }
}

function parseEmailHost(text: string): ParsedHost {
  if (text.charCodeAt(0) === 91) return isAddressLiteral(text) ? IP_HOST : INVALID_HOST
  return parseHost(text, false)
}

/** A local part as people would tell it apart: lower case, NFC, without its `+tag`. */
type LocalPart = {
  /** As it stands in an address: in quotes only where it needs them. */
  readonly text: string
  readonly hasTag: boolean
}

/** A dot-atom that is in lower case, NFC and without a tag already. */
const NORMAL_DOT_ATOM = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
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
  if (NORMAL_DOT_ATOM.test(sent)) return { text: sent, hasTag: false }
  if (DOT_ATOM.test(sent)) return sent.isWellFormed() ? stripTag(lowerCaseNfc(sent)) : null
  if (!QUOTED_STRING.test(sent) || !sent.isWellFormed()) return null
  return stripTag(lowerCaseNfc(sent.slice(1, -1).replace(/\\(.)/g, "$1")))
}

/**
 * Where the `@` of an address stands whose local part is a dot-atom in lower case, NFC, without a tag and not too long; -1: it
 * is another, or none. It says nothing of what follows the `@`.
 */
export function normalLocalPartEnd(text: string): number {
  let before = DOT
  const end = Math.min(text.length, LIMITS.localPartBytesMax + 1)
  for (let at = 0; at < end; at++) {
    const unit = CHARACTER_KINDS[text.charCodeAt(at)]
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
const CHARACTER_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const unit = String.fromCharCode(code)
  if (unit === ".") return DOT
  if (unit === "@") return AT
  return NORMAL_DOT_ATOM.test(unit) ? ATOM : OTHER
})

/** Case and composition first, quoting after: NFC makes a `;` of U+037E, which then needs quotes. */
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
