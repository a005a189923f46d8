import PRODUCTS from "../../../data/identity/products.json" with { type: "json" }
import { ownMember, stripControlCharacters } from "../../base/untrusted-text.ts"
import { longestSuffixMatch } from "../dns/domain-name.ts"
import type { Tenant } from "../verdict/evidence.ts"
import type { IdentityResponse } from "./identity-endpoint.ts"

/** How a tenant's users sign in. */
type TenantSignIn = { readonly auth: Tenant["auth"]; readonly identityProvider: IdentityProvider | null }

/** The URL of a domain's realm. Its local part is always `x`: no local part of a request is ever sent. */
export const userRealmUrl = (base: string, domain: string): string =>
  `${base}/getuserrealm.srf?login=x@${encodeURIComponent(domain)}&json=1`

/** How users sign in by the response; null: it does not tell. */
export function parseTenantSignIn(response: IdentityResponse, organisationalDomain: string): TenantSignIn | null {
  if (response.kind !== "answered" || typeof response.json !== "object" || response.json === null) return null
  const auth = parseAuth(ownMember(response.json, "NameSpaceType"))
  const authUrl = ownMember(response.json, "AuthURL")
  const isFederated = auth === "federated" && typeof authUrl === "string"
  return { auth, identityProvider: isFederated ? identityProviderOf(authUrl, organisationalDomain) : null }
}

function parseAuth(nameSpaceType: unknown): Tenant["auth"] {
  if (nameSpaceType === "Managed") return "managed"
  return nameSpaceType === "Federated" ? "federated" : null
}

/** Who authenticates the users of a federated domain: a known product, a host of the domain's own, or another. */
type IdentityProvider = keyof typeof PRODUCTS | "self_hosted" | "other"

/** A longer sign-in URL is not read. */
const AUTH_URL_CHARS_MAX = 2048

/** The signs of a product: hosts of its vendor, and paths on a customer's own host, where `*` is any text within a segment. */
type ProductSignature = { readonly hosts: readonly string[]; readonly paths: readonly string[] }

const PRODUCT_SIGNATURES = Object.entries<ProductSignature>(PRODUCTS) as [keyof typeof PRODUCTS, ProductSignature][] // `Object.entries` loses the type of the keys

/** The products by the hosts of their vendors, which include all subdomains. */
const PRODUCT_BY_HOST = new Map(
  PRODUCT_SIGNATURES.flatMap(([product, { hosts }]) => hosts.map(host => [host, product] as const)),
)

const PRODUCT_PATHS = PRODUCT_SIGNATURES.flatMap(([product, { paths }]) =>
  paths.map(path => ({ product, pattern: pathPattern(path) })),
)

/**
 * The provider behind a sign-in URL. A vendor's host wins over a product's path, and that over a host of the organisationalDomain
 * domain. Null: the URL is malformed, or neither http nor https.
 */
export function identityProviderOf(authUrl: string, organisationalDomain: string): IdentityProvider | null {
  if (authUrl.length > AUTH_URL_CHARS_MAX) return null
  const url = URL.parse(stripControlCharacters(authUrl))
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null
  const host = url.hostname.replace(/\.$/, "")
  return (
    longestSuffixMatch(PRODUCT_BY_HOST, host) ??
    productByPath(url.pathname) ??
    (isSameOrBelow(host, organisationalDomain) ? "self_hosted" : "other")
  )
}

const productByPath = (path: string): IdentityProvider | undefined =>
  PRODUCT_PATHS.find(({ pattern }) => pattern.test(path))?.product

/** Matches a path that begins with the segments of `path`, in any case. */
function pathPattern(path: string): RegExp {
  const literals = path.split("*").map(part => RegExp.escape(part))
  return new RegExp(`^${literals.join("[^/]*")}(?:/|$)`, "i")
}

const isSameOrBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)
