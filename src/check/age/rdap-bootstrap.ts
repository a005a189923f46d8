import BUILT_IN from "../../../data/rdap/dns.json" with { type: "json" }
import { assert } from "../../base/errors.ts"
import { domainToALabels } from "../../base/idna.ts"
import { parseJson } from "../../base/text.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import { longestSuffixMatch } from "../dns/domain-name.ts"
import { isAllowedServer } from "./rdap-request.ts"

/** The RDAP servers by top-level domain (RFC 9224). */
export type RdapBootstrap = {
  /** The base URL of a domain's server, with a trailing slash; null: there is none. The domain is A-labels, lower case. */
  readonly serverOf: (domain: string) => string | null
  /** The names that have a server. Most are top-level domains. */
  readonly names: ReadonlySet<string>
  /** When it was published, in milliseconds since the Unix epoch; null: it has no publication date. */
  readonly publishedAtMs: number | null
}

/** A parsed bootstrap, or a sentence for the log that says why it is invalid. */
export type BootstrapParseResult =
  | { readonly kind: "read"; readonly bootstrap: RdapBootstrap }
  | { readonly kind: "refused"; readonly message: string }

/** The greatest length of a bootstrap. IANA's has 60 000 characters, and 600 services. */
export const BOOTSTRAP_CHARS_MAX = 256 * 1024
const SERVICES_MAX = 2000
const NAMES_MAX = 20_000
const URL_CHARS_MAX = 1024

/** Labels of letters, digits and hyphens, A-labels included. The root is the empty name. */
const BOOTSTRAP_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.(?!$)|$))*$/

/** Its message says why the text is no bootstrap. */
class InvalidBootstrap extends Error {}

/**
 * Parses a bootstrap (RFC 9224 §3). Each name gets the first of its servers that is allowed (`isAllowedServer`), or none. Any
 * other deviation from the RFC makes the whole bootstrap invalid. `isOperatorUrl`: the operator set its URL.
 */
export function parseBootstrap(text: string, isOperatorUrl: boolean): BootstrapParseResult {
  try {
    if (text.length > BOOTSTRAP_CHARS_MAX)
      throw new InvalidBootstrap(`It has more than ${BOOTSTRAP_CHARS_MAX} characters.`)
    return { kind: "read", bootstrap: buildBootstrap(parseBootstrapJson(text), isOperatorUrl) }
  } catch (error) {
    if (error instanceof InvalidBootstrap) return { kind: "refused", message: error.message }
    throw error
  }
}

let bundled: RdapBootstrap | null = null

/** The bootstrap in the program, parsed at the first call. */
export function bundledBootstrap(): RdapBootstrap {
  bundled ??= buildBootstrap(BUILT_IN, false)
  assert(bundled.names.size > 0, "the bundled bootstrap names servers")
  return bundled
}

function parseBootstrapJson(text: string): unknown {
  const json = parseJson(text)
  if (json === undefined) throw new InvalidBootstrap("It is not JSON.")
  return json
}

function buildBootstrap(json: unknown, isOperatorUrl: boolean): RdapBootstrap {
  if ((ownMember(json, "version") ?? "1.0") !== "1.0") throw new InvalidBootstrap("Its version is not 1.0.")
  const services = ownMember(json, "services")
  if (!Array.isArray(services)) throw new InvalidBootstrap("It has no list of services.")
  if (services.length > SERVICES_MAX) throw new InvalidBootstrap(`It has more than ${SERVICES_MAX} services.`)
  const bases = new Map<string, string>()
  for (const service of services) {
    const [names, urls] = serviceParts(service)
    const base = urls.map(url => normalizeBaseUrl(url, isOperatorUrl)).find(url => url !== null)
    if (base !== undefined) for (const name of names) bases.set(normalizeName(name), base)
    if (bases.size > NAMES_MAX) throw new InvalidBootstrap(`It has more than ${NAMES_MAX} names.`)
  }
  return {
    // The longest name that is the domain or a parent of it counts (RFC 9224 §4). The root is the empty name.
    serverOf: domain => longestSuffixMatch(bases, domain) ?? bases.get("") ?? null,
    names: new Set(bases.keys()),
    publishedAtMs: parsePublication(ownMember(json, "publication")),
  }
}

/** A service is a pair of lists of strings (RFC 9224 §3). */
function serviceParts(service: unknown): readonly [names: readonly string[], urls: readonly string[]] {
  if (!Array.isArray(service) || service.length !== 2) throw new InvalidBootstrap("A service is not a pair.")
  const [names, urls]: unknown[] = service
  if (!isStringArray(names) || !isStringArray(urls))
    throw new InvalidBootstrap("A service is not a pair of lists of strings.")
  return [names, urls]
}

const isStringArray = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every(text => typeof text === "string")

function normalizeName(text: string): string {
  const name = text === "." ? "" : /^[\x21-\x7e]*$/.test(text) ? text.toLowerCase() : domainToALabels(text)
  if (!BOOTSTRAP_NAME.test(name) || (name === "" && text !== "" && text !== "."))
    throw new InvalidBootstrap("A name is invalid.")
  return name
}

/** The URL with a trailing slash; null: it is not allowed, or has a query or a fragment. */
function normalizeBaseUrl(text: string, isOperatorUrl: boolean): string | null {
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text)
  if (url === null || /[?#]/.test(text) || !isAllowedServer(url, isOperatorUrl)) return null
  return url.href.endsWith("/") ? url.href : `${url.href}/`
}

function parsePublication(text: unknown): number | null {
  if (text === undefined) return null
  const publishedAtMs = typeof text === "string" ? Date.parse(text) : Number.NaN
  if (Number.isNaN(publishedAtMs)) throw new InvalidBootstrap("Its publication is not a date.")
  return publishedAtMs
}
