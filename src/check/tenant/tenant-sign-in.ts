import PRODUCTS from "../../../data/identity/products.json" with { type: "json" }
import { ownMember, stripControlCharacters } from "../../base/untrusted-text.ts"
import type { Tenant } from "../verdict/evidence.ts"
import type { IdentityResponse } from "./identity-endpoint.ts"

/** How a domain's people sign in. */
type TenantSignIn = { readonly auth: Tenant["auth"]; readonly identityProvider: IdentityProvider | null }

/** Where a domain's realm is told. The local part stands for nobody: no caller's is ever sent. */
export const userRealmUrl = (base: string, domain: string): string =>
  `${base}/getuserrealm.srf?login=x@${encodeURIComponent(domain)}&json=1`

/** How people sign in, by the reply; null: the reply does not tell. `organisational` is the domain's registrable domain. */
export function parseTenantSignIn(reply: IdentityResponse, organisational: string): TenantSignIn | null {
  if (reply.kind !== "told" || typeof reply.json !== "object" || reply.json === null) return null
  const auth = parseAuth(ownMember(reply.json, "NameSpaceType"))
  const authUrl = ownMember(reply.json, "AuthURL")
  const isElsewhere = auth === "federated" && typeof authUrl === "string"
  return { auth, identityProvider: isElsewhere ? identityProviderOf(authUrl, organisational) : null }
}

function parseAuth(nameSpaceType: unknown): Tenant["auth"] {
  if (nameSpaceType === "Managed") return "managed"
  return nameSpaceType === "Federated" ? "federated" : null
}

/** Who signs the people of a federated domain in: a product we know, something on the domain's own hosts, or neither. */
type IdentityProvider = keyof typeof PRODUCTS | "self_hosted" | "other"

/** A longer address of a sign-in page is not read. */
const AUTH_URL_CHARS_MAX = 2048

/** Where a product shows itself: hosts its vendor runs, and paths it has on a customer's own host; `*` is any run within a segment. */
type ProductSignature = { readonly hosts: readonly string[]; readonly paths: readonly string[] }

const PRODUCT_SIGNATURES = Object.entries<ProductSignature>(PRODUCTS) as [keyof typeof PRODUCTS, ProductSignature][] // entries forget the names of the keys

const PRODUCT_BY_HOST = new Map(
  PRODUCT_SIGNATURES.flatMap(([product, { hosts }]) => hosts.map(host => [host, product] as const)),
)

const PRODUCT_PATHS = PRODUCT_SIGNATURES.flatMap(([product, { paths }]) =>
  paths.map(path => ({ product, pattern: pathPattern(path) })),
)

/**
 * The provider behind the address of a sign-in page. A vendor's host tells more than a product's path, and that more than a
 * host of `organisational`, the domain's registrable domain. Null: the address cannot be read, or is none of http or https.
 */
export function identityProviderOf(authUrl: string, organisational: string): IdentityProvider | null {
  if (authUrl.length > AUTH_URL_CHARS_MAX) return null
  const url = URL.parse(stripControlCharacters(authUrl))
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null
  const host = url.hostname.replace(/\.$/, "")
  return (
    productByHost(host) ??
    productByPath(url.pathname) ??
    (isSameOrBelow(host, organisational) ? "self_hosted" : "other")
  )
}

/** The product whose vendor runs the host or a parent of it. */
function productByHost(host: string): IdentityProvider | undefined {
  for (let at = 0; ; ) {
    const product = PRODUCT_BY_HOST.get(host.slice(at))
    if (product !== undefined) return product
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}

const productByPath = (path: string): IdentityProvider | undefined =>
  PRODUCT_PATHS.find(({ pattern }) => pattern.test(path))?.product

/** Matches a path that begins with the segments of `path`, in any case. */
function pathPattern(path: string): RegExp {
  const literals = path.split("*").map(part => RegExp.escape(part))
  return new RegExp(`^${literals.join("[^/]*")}(?:/|$)`, "i")
}

const isSameOrBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)
