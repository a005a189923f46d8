import type { TermsState } from "./held-terms.ts"

const NO_HEADERS = {} as const

/**
 * The headers that tell a client how its account stands to the terms: a link to them (RFC 6903 §5) when they have to be
 * accepted and, while there is time for that, a warning that names the version and the end (RFC 7234 §5.5). None when
 * they are accepted.
 */
export function termsHeaders(state: TermsState): Readonly<Record<string, string>> {
  if (state.kind === "accepted") return NO_HEADERS
  const Link = `<${uri(state.url)}>; rel="terms-of-service"`
  if (state.kind === "not_accepted") return { Link }
  const text = `The terms have changed. Version ${state.version} has to be accepted before ${instant(state.endsAtMs)}.`
  // 299 is a warning that lasts; the agent that warns goes by its pseudonym.
  return { Warning: `299 mailkind "${text}"`, Link }
}

/** What `URL` leaves as it is and RFC 3986 §2 does not allow in a URI is percent-encoded: `|`, `^`, `{`. */
function uri(url: string): string {
  return url.replace(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, character => encodeURIComponent(character.toWellFormed()))
}

/** To the second, rounded down: nobody is told a later end than there is. */
function instant(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}
