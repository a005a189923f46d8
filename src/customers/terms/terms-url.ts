import { LIMITS } from "../../contract/limits.ts"

/** Scheme and two slashes as RFC 3986 writes them, and no space, control or backslash, which `URL` would drop or turn. */
const WRITTEN_URL = /^https?:\/\/(?!\/)[^\s\p{C}\\]+$/iu

/**
 * The address of terms as `URL` writes it: absolute, `http` or `https`, without user and password, at most
 * `LIMITS.urlLengthMax` characters, all of them printable ASCII. Null when the text is no such address.
 */
export function termsUrl(text: string): string | null {
  if (text.length > LIMITS.urlLengthMax || !WRITTEN_URL.test(text)) return null
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "") return null
  return url.href.length > LIMITS.urlLengthMax ? null : url.href
}
