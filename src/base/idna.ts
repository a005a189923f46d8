import { domainToASCII, domainToUnicode } from "node:url"
import { exceedsMarks, hasBlankGlyph } from "./unicode.ts"

/** The most bytes of a name and of a label as A-labels (RFC 1035 §2.3.4, without the length of the root). */
const NAME_BYTES_MAX = 253
const LABEL_BYTES_MAX = 63
/** A text of more code units is no name: 253 code points, of which each stands for up to four (canonical decompositions). */
const CODE_UNITS_MAX = 1000
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
const LABEL_SEPARATOR = /[.\u3002\uff0e\uff61]/

/**
 * A name as A-labels, by UTS 46, non-transitional; an empty text if it has none. A percent sign is decoded, and the name ends
 * at `/`, `?`, `#` or a port, so a text with these must not be passed. Converting a label takes
 * quadratic time, so a name with a label that is too long is refused before.
 */
export const domainToALabels = (text: string): string => (isConvertible(text) ? domainToASCII(text) : "")

/** Whether the name and its labels may be short enough as A-labels, where each code point takes at least one byte. */
function isConvertible(text: string): boolean {
  if (text.length <= LABEL_BYTES_MAX) return !exceedsMarks(text)
  if (text.length > CODE_UNITS_MAX || exceedsMarks(text)) return false
  // NFKC makes up to 18 of one, so it is not asked about a text that is too long without it.
  const visible = text.replace(IGNORABLE, "").normalize("NFC")
  if ([...visible].length > NAME_BYTES_MAX) return false
  const mapped = visible.normalize("NFKC").replace(IGNORABLE, "")
  const labels = mapped.split(LABEL_SEPARATOR).map(label => [...label])
  const count = labels.reduce((sum, { length }) => sum + length + 1, -1)
  return count <= NAME_BYTES_MAX && labels.every(({ length }) => length <= LABEL_BYTES_MAX)
}

const NON_ASCII = /[^\0-\x7f]/
const U_LABEL_HYPHENS = /^-|-$|^..--/u

/** Whether every A-label decodes to a U-label, and no U-label has a hyphen where IDNA forbids it, or a character that is drawn as nothing. */
export function hasValidULabels(ascii: string): boolean {
  if (!ascii.includes("xn--")) return true
  const name = domainToUnicode(ascii)
  const isValid = (label: string): boolean =>
    !label.startsWith("xn--") && !(NON_ASCII.test(label) && U_LABEL_HYPHENS.test(label))
  return !hasBlankGlyph(name) && name.split(".").every(isValid)
}
