import { exceedsMarks, hasBlankGlyph } from "./unicode.ts"

/** RFC 5321 `Dot-string`, RFC 6531 `atext`: any character outside ASCII counts as a letter. */
export const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*$/
/** RFC 5321 `Quoted-string`, RFC 6531 `qtextSMTP`. */
const QUOTED_STRING = /^"(?:[^"\\]|\\[ -~])*"$/

/**
 * Characters that nobody sees or that mean nothing to others, so that two addresses would look alike (DECISIONS 112), and U+FFFC and U+FFFD,
 * which stand for what was lost. A space can only stand in a quoted string.
 */
const UNSEEN = /[[\p{White_Space}--\x20]\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cn}\uFFFC\uFFFD]/v
/** A combining mark without a letter before it: it is drawn over a quote, a dot, a space or what stands before the address. */
const LEADING_MARK = /(?:^|[". ])\p{M}/u
const NON_ASCII = /[^\0-\x7f]/

/**
 * The content of the local part of an address in lower case and NFC, without quotes and escapes; null: the text is no local part.
 * It is one if it is a dot-atom or a quoted string, both with letters of any script, and has no lone surrogate, no character that
 * nobody sees, no leading combining mark and no more combining marks in a row than any language needs. The text must not contain
 * control characters.
 */
export function parseLocalPartContent(sent: string): string | null {
  if (NON_ASCII.test(sent) && isMisleading(sent)) return null
  if (DOT_ATOM.test(sent)) return lowerCaseNfc(sent)
  return QUOTED_STRING.test(sent) ? lowerCaseNfc(sent.slice(1, -1).replace(/\\(.)/g, "$1")) : null
}

const isMisleading = (text: string): boolean =>
  !text.isWellFormed() || UNSEEN.test(text) || hasBlankGlyph(text) || LEADING_MARK.test(text) || exceedsMarks(text)

/** Runs before quoting: NFC turns U+037E into `;`, which needs quotes. */
function lowerCaseNfc(content: string): string {
  return content.toLowerCase().normalize("NFC")
}
