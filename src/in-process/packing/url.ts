import { domainToUnicode, domainToASCII as nativeToAscii } from "node:url"
import { toASCII } from "tr46"

/** Characters of the scripts that are written from right to left, and those that direct text so. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** As `node:url` of Bun, which refuses names that break the Bidi rule (RFC 5893 §2). Node.js does not look at it. */
export function domainToASCII(domain: string): string {
  const ascii = nativeToAscii(domain)
  if (!ascii.includes("xn--") || !RIGHT_TO_LEFT.test(domainToUnicode(ascii))) return ascii
  return toASCII(ascii, { checkBidi: true }) === null ? "" : ascii
}

export { fileURLToPath } from "node:url"
export { domainToUnicode }
