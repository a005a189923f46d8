import { domainToUnicode } from "node:url"
import { DOT_ATOM, parseLocalPartContent } from "../../base/local-part.ts"
import { exceedsUtf8Bytes } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import { INVALID_HOST, IP_HOST, isAddressLiteral, type ParsedHost, parseHost } from "./parse-host.ts"
import type { SubjectFault } from "./subject.ts"

/** The parts of an address. A part that parses is set even if the address has a fault. */
export type ParsedEmail = {
  readonly host: ParsedHost
  /** Null: it does not parse, or the address is too long. */
  readonly localPart: LocalPart | null
  /**
   * The whole address in normal form. Where that would be longer than an address may be, the local part stays as sent, and if it still
   * is, so does the domain, in lower case and NFC if that is short enough. It parses to itself. Null: the address has a fault.
   */
  readonly normalized: string | null
  /** The normal form, however long, which is the same for all spellings of an address. Null: the address has a fault. */
  readonly mailbox: string | null
  /** The same with the tag. Null: there is none, or the address has a fault. */
  readonly tagged: string | null
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
  if (isAddressTooLong(sentLocalPart, text)) return { ...NO_ADDRESS, host, localPart: null, fault: "too_long" }
  const localPart = parseLocalPart(sentLocalPart)
  if (localPart === null) return { ...NO_ADDRESS, host, localPart, fault: "invalid_syntax" }
  if (host.name === null) return { ...NO_ADDRESS, host, localPart, fault: host.fault }
  // Most addresses are in normal form already, so no new string is made.
  const isNormal = localPart.text === sentLocalPart && host.name === sentHost
  if (isNormal) return { host, localPart, normalized: text, mailbox: text, tagged: null, fault: null }
  const mailbox = `${localPart.text}@${host.name}`
  const tagged = localPart.tagged === null ? null : `${localPart.tagged}@${host.name}`
  const normalized = isAddressTooLong(localPart.text, mailbox)
    ? shortForm(localPart.text, sentLocalPart, host.name)
    : mailbox
  return { host, localPart, normalized: normalized ?? text, mailbox, tagged, fault: null }
}

const NO_ADDRESS = { normalized: null, mailbox: null, tagged: null } as const

/** Whether an address with this local part is longer than one may be. */
export const isAddressTooLong = (localPart: string, address: string): boolean =>
  exceedsUtf8Bytes(address, LIMITS.addressBytesMax) || exceedsUtf8Bytes(localPart, LIMITS.localPartBytesMax)

/** The first form of an address that is short enough, where the normal one is not; null: none but the text as sent. */
function shortForm(local: string, sentLocal: string, name: string): string | null {
  const displayed = domainToUnicode(name)
  const forms = [
    [sentLocal, name],
    [local, displayed],
    [sentLocal, displayed],
  ] as const
  const short = forms.find(([localPart, host]) => !isAddressTooLong(localPart, `${localPart}@${host}`))
  return short === undefined ? null : short.join("@")
}

function parseEmailHost(text: string): ParsedHost {
  if (text !== "" && text.charCodeAt(0) === 91) return isAddressLiteral(text) ? IP_HOST : INVALID_HOST
  return parseHost(text, false)
}

/** A local part in normal form: lower case, NFC, without its `+tag`. */
type LocalPart = {
  /** As written in an address: quoted only if it has to be. */
  readonly text: string
  /** The same with its tag. Null: it has none. */
  readonly tagged: string | null
}

/** A dot-atom that is in normal form already: ASCII, lower case, no tag. */
const NORMAL_DOT_ATOM = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/

/**
 * Parses the local part of an address: a dot-atom or a quoted string, as `parseLocalPartContent` says. The text must not contain
 * control characters. Null: it is neither.
 *
 * The tag runs from the first `+` to the end, unless the local part starts with `+`, whatever the tag holds. A quoted string has a tag
 * only if what stands before it is a dot-atom. If removing the tag leaves a trailing dot (`jane.+news`), the rest is quoted
 * (`"jane."`), since that is how the mailbox is addressed without a tag.
 */
export function parseLocalPart(sent: string): LocalPart | null {
  // Most local parts match here.
  if (NORMAL_DOT_ATOM.test(sent)) return { text: sent, tagged: null }
  const content = parseLocalPartContent(sent)
  return content === null ? null : stripTag(content)
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

function stripTag(content: string): LocalPart {
  const text = quoteIfNeeded(content)
  const plus = content.indexOf("+")
  const rest = content.slice(0, plus)
  // What stands after the `+` says nothing of the mailbox, whatever it is.
  if (plus <= 0 || !DOT_ATOM.test(rest.endsWith(".") ? rest.slice(0, -1) : rest)) return { text, tagged: null }
  return { text: quoteIfNeeded(rest), tagged: text }
}

/** As written in an address: NFC, for one, turns U+037E into `;`, which needs quotes. */
function quoteIfNeeded(content: string): string {
  return DOT_ATOM.test(content) ? content : `"${content.replace(/["\\]/g, "\\$&")}"`
}
