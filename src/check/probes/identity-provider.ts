import PRODUCTS from "../../../data/identity/products.json" with { type: "json" }
import { withoutControls } from "./outside-text.ts"

/** Who signs the people of a federated domain in: a product we know, something on the domain's own hosts, or neither. */
export type IdentityProvider = keyof typeof PRODUCTS | "self_hosted" | "other"

/** A longer address of a sign-in page is not read. */
const AUTH_URL_LENGTH_MAX = 2048

/** Where a product shows itself: hosts its vendor runs, and paths it has on a customer's own host; `*` is any run within a segment. */
type Marks = { readonly hosts: readonly string[]; readonly paths: readonly string[] }

const MARKS = Object.entries<Marks>(PRODUCTS) as [keyof typeof PRODUCTS, Marks][] // entries forget the names of the keys

const BY_HOST = new Map(MARKS.flatMap(([product, { hosts }]) => hosts.map(host => [host, product] as const)))

const BY_PATH = MARKS.flatMap(([product, { paths }]) => paths.map(path => ({ product, pattern: pathPattern(path) })))

/**
 * The provider behind the address of a sign-in page. A vendor's host tells more than a product's path, and that more than a
 * host of `organisational`, the domain's registrable domain. Null: the address cannot be read, or is none of http or https.
 */
export function identityProviderOf(authUrl: string, organisational: string): IdentityProvider | null {
  if (authUrl.length > AUTH_URL_LENGTH_MAX) return null
  const url = URL.parse(withoutControls(authUrl))
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null
  const host = url.hostname.replace(/\.$/, "")
  return vendorOf(host) ?? productAt(url.pathname) ?? (isWithin(host, organisational) ? "self_hosted" : "other")
}

/** The product whose vendor runs the host or a parent of it. */
function vendorOf(host: string): IdentityProvider | undefined {
  for (let at = 0; ; ) {
    const product = BY_HOST.get(host.slice(at))
    if (product !== undefined) return product
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}

const productAt = (path: string): IdentityProvider | undefined =>
  BY_PATH.find(({ pattern }) => pattern.test(path))?.product

/** Matches a path that begins with the segments of `path`, in any case. */
function pathPattern(path: string): RegExp {
  const literals = path.split("*").map(part => RegExp.escape(part))
  return new RegExp(`^${literals.join("[^/]*")}(?:/|$)`, "i")
}

const isWithin = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)
