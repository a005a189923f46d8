/** What an owner can put on a list: an address, a domain with all that is below it, or only what is below a domain. */
export type EntryKind = "address" | "domain" | "subdomains"

/** An entry of a block or allow list. */
export type Entry = {
  readonly kind: EntryKind
  /** The domain that it names, or that its address stands at: A-labels, lower case. */
  readonly domain: string
  /** The text in which it is stored and shown: `acme.com`, `*.acme.com`, or `sha256:<64 hex digits>@acme.com` for an address. */
  readonly kept: string
}

/** What a text names: an address in lower case without its `+tag`, or a domain as A-labels; null when it is neither. */
export type Normalize = (
  text: string,
) =>
  | { readonly kind: "address"; readonly normalized: string; readonly domain: string }
  | { readonly kind: "domain"; readonly domain: string }
  | null

const BELOW = "*."
const HASHED = "sha256:"
const KEPT_ADDRESS = /^sha256:[0-9a-f]{64}@/

/**
 * The entry that a text means: an address, a domain, `*.domain`, or a kept form. Null when it means none. A name of one
 * label is taken only as `*.label`: a whole top level is seldom meant, a forgotten `.com` often. And an asterisk stands
 * nowhere else: `*@acme.com` could be an address, but who writes it means the domain.
 */
export function parseEntry(text: string, normalize: Normalize): Entry | null {
  const trimmed = text.trim()
  if (KEPT_ADDRESS.test(trimmed)) return parseKeptAddress(trimmed, normalize)
  if (trimmed.startsWith(BELOW)) return parseBelow(trimmed.slice(BELOW.length), normalize)
  const named = trimmed.includes("*") ? null : normalize(trimmed)
  if (named?.kind === "address") {
    const { normalized, domain } = named
    return { kind: "address", domain, kept: keptAddress(normalized, domain) }
  }
  return named === null || !named.domain.includes(".") ? null : storedEntry(named.domain)
}

/** The entry of a kept form that this file wrote. */
export function storedEntry(kept: string): Entry {
  if (kept.startsWith(BELOW)) return { kind: "subdomains", domain: kept.slice(BELOW.length), kept }
  if (kept.startsWith(HASHED)) return { kind: "address", domain: kept.slice(kept.indexOf("@") + 1), kept }
  return { kind: "domain", domain: kept, kept }
}

/** The kept form of an address at `domain`: its SHA-256, since no address may be stored, and its domain in the clear. */
export function keptAddress(normalized: string, domain: string): string {
  return `${HASHED}${Bun.SHA256.hash(normalized, "hex")}@${domain}`
}

/** No address reads like this: a `:` stands in quotes there. */
function parseKeptAddress(text: string, normalize: Normalize): Entry | null {
  const entry = storedEntry(text)
  const named = normalize(entry.domain)
  return named?.kind === "domain" && named.domain === entry.domain ? entry : null
}

function parseBelow(name: string, normalize: Normalize): Entry | null {
  // White space around a whole text is nobody's, inside of one it is a mistake.
  const named = name.trimStart() === name ? normalize(name) : null
  return named?.kind === "domain" ? storedEntry(BELOW + named.domain) : null
}
