/** How many origins a key may allow. */
export const ORIGINS_PER_KEY_MAX = 20

/** The longest host, "https://", a port, and what a person may put around them. */
const ORIGIN_LENGTH_MAX = 300

/** Scheme, host and port, and at most the one slash that people paste. No user, path, query, wildcard or escape. */
const WRITTEN_ORIGIN = /^https?:\/\/(?:[\p{L}\p{M}\p{N}._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?\/?$/iu

/**
 * An origin as browsers write it (RFC 6454 §6.2): lower case, A-labels, no default port, no slash. Null when the text is
 * none that a key can allow: other schemes than http and https, a path, a user, a wildcard, or `null`.
 */
export function parseOrigin(text: string): string | null {
  if (text.length > ORIGIN_LENGTH_MAX || !WRITTEN_ORIGIN.test(text)) return null
  const origin = URL.parse(text)?.origin
  // Reading a host may make other characters of its own: `⑴` becomes `(1)`.
  return origin !== undefined && WRITTEN_ORIGIN.test(origin) ? origin : null
}

/** The origin of an `Origin` header, which never ends in a slash; null: none was sent, or it is none that a key can allow. */
export function sentOrigin(header: string | null): string | null {
  return header === null || header.endsWith("/") ? null : parseOrigin(header)
}

/** True when `header`, an `Origin` header, is one of `origins`, which `parseOrigin` wrote. Null: no header was sent. */
export function isAllowedOrigin(origins: readonly string[], header: string | null): boolean {
  const sent = sentOrigin(header)
  return sent !== null && origins.includes(sent)
}

/** The text in which the database keeps origins: parted by single spaces, which no origin holds. */
export function originsToStore(origins: readonly string[]): string {
  return origins.join(" ")
}

/** The origins in a text that `originsToStore` wrote. */
export function storedOrigins(text: string): readonly string[] {
  return text === "" ? [] : text.split(" ")
}
