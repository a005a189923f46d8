import { parseSubject } from "./parse.ts"

/** What somebody means who names an address or a domain, wherever it stands in public DNS. */
type Named =
  | { readonly kind: "address"; readonly normalized: string; readonly domain: string }
  | { readonly kind: "domain"; readonly domain: string }

/** What a text names: an address in lower case without its `+tag`, or a domain as A-labels; null when it is neither. */
export function namedIn(text: string): Named | null {
  const isAddress = text.includes("@")
  const { domain, normalized } = parseSubject(isAddress ? "email" : "domain", text, "")
  if (domain === null) return null
  if (!isAddress) return { kind: "domain", domain }
  return normalized === null ? null : { kind: "address", normalized, domain }
}
