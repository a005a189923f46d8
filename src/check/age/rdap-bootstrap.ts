import { domainToASCII } from "node:url"
import BUILT_IN from "../../../data/rdap/dns.json" with { type: "json" }
import { assert } from "../../base/errors.ts"
import { parseJson } from "../../base/text.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import { isAllowedServer } from "./rdap-request.ts"

/** Which RDAP server knows which domains (RFC 9224). */
export type RdapBootstrap = {
  /** The base URL, with a slash at its end, of the server that knows the domain; null: none does. The domain is A-labels, lower case. */
  readonly serverOf: (domain: string) => string | null
  /** The names whose domains a server is known for; most are top-level domains. */
  readonly names: ReadonlySet<string>
  /** When it was published, in milliseconds since the Unix epoch; null: it does not say. */
  readonly publishedAtMs: number | null
}

/** A bootstrap that was read, or why it was not: a sentence for the log. */
export type BootstrapParseResult =
  | { readonly kind: "read"; readonly bootstrap: RdapBootstrap }
  | { readonly kind: "refused"; readonly message: string }

/** How many characters a bootstrap has at most. IANA's has 60 000. */
export const BOOTSTRAP_CHARS_MAX = 1024 * 1024
const NAMES_MAX = 20_000
const URL_CHARS_MAX = 1024

/** Labels of letters, digits and hyphens, which A-labels are too. The root is the empty name. */
const BOOTSTRAP_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.(?!$)|$))*$/

/** Why the text is no bootstrap. */
class InvalidBootstrap extends Error {}

/**
 * Reads a bootstrap (RFC 9224 §3). Servers that may not be asked are passed over, and a name that has no other has none:
 * of those that may, the first serves. Anything else that is not as the RFC has it refuses the whole.
 */
export function parseBootstrap(text: string, isOwn: boolean): BootstrapParseResult {
  try {
    if (text.length > BOOTSTRAP_CHARS_MAX)
      throw new InvalidBootstrap(`It has more than ${BOOTSTRAP_CHARS_MAX} characters.`)
    return { kind: "read", bootstrap: buildBootstrap(parseBootstrapJson(text), isOwn) }
  } catch (fault) {
    if (fault instanceof InvalidBootstrap) return { kind: "refused", message: fault.message }
    throw fault
  }
}

let bundled: RdapBootstrap | null = null

/** The bootstrap that the program carries, read when it is first asked for. */
export function bundledBootstrap(): RdapBootstrap {
  bundled ??= buildBootstrap(BUILT_IN, false)
  assert(bundled.names.size > 0, "the bootstrap that is built in names servers")
  return bundled
}

function parseBootstrapJson(text: string): unknown {
  const json = parseJson(text)
  if (json === undefined) throw new InvalidBootstrap("It is no JSON.")
  return json
}

function buildBootstrap(json: unknown, isOwn: boolean): RdapBootstrap {
  if ((ownMember(json, "version") ?? "1.0") !== "1.0") throw new InvalidBootstrap("Its version is not 1.0.")
  const services = ownMember(json, "services")
  if (!Array.isArray(services)) throw new InvalidBootstrap("It has no list of services.")
  const bases = new Map<string, string>()
  for (const service of services) {
    const [names, urls] = serviceParts(service)
    const base = urls.map(url => normalizeBaseUrl(url, isOwn)).find(url => url !== null)
    if (base !== undefined) for (const name of names) bases.set(normalizeName(name), base)
    if (bases.size > NAMES_MAX) throw new InvalidBootstrap(`It has more than ${NAMES_MAX} names.`)
  }
  return {
    serverOf: domain => longestMatch(bases, domain),
    names: new Set(bases.keys()),
    publishedAtMs: parsePublication(ownMember(json, "publication")),
  }
}

/** A service is a pair of lists of texts (RFC 9224 §3). */
function serviceParts(service: unknown): readonly [names: readonly string[], urls: readonly string[]] {
  if (!Array.isArray(service) || service.length !== 2) throw new InvalidBootstrap("A service is no pair.")
  const [names, urls]: unknown[] = service
  if (!isStringArray(names) || !isStringArray(urls))
    throw new InvalidBootstrap("A service is no pair of lists of texts.")
  return [names, urls]
}

const isStringArray = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every(text => typeof text === "string")

function normalizeName(written: string): string {
  const name = written === "." ? "" : /^[\x21-\x7e]*$/.test(written) ? written.toLowerCase() : domainToASCII(written)
  if (!BOOTSTRAP_NAME.test(name) || (name === "" && written !== "" && written !== "."))
    throw new InvalidBootstrap("A name is none.")
  return name
}

/** The URL with a slash at its end; null: it may not be asked, or nothing can be put after it. */
function normalizeBaseUrl(written: string, isOwn: boolean): string | null {
  const url = written.length > URL_CHARS_MAX ? null : URL.parse(written)
  if (url === null || /[?#]/.test(written) || !isAllowedServer(url, isOwn)) return null
  return url.href.endsWith("/") ? url.href : `${url.href}/`
}

function parsePublication(written: unknown): number | null {
  if (written === undefined) return null
  const publishedAtMs = typeof written === "string" ? Date.parse(written) : Number.NaN
  if (Number.isNaN(publishedAtMs)) throw new InvalidBootstrap("Its publication is no date.")
  return publishedAtMs
}

/** The longest name counts that is the domain or a parent of it, label by label (RFC 9224 §4). */
function longestMatch(bases: ReadonlyMap<string, string>, domain: string): string | null {
  for (let from = 0; ; ) {
    const base = bases.get(domain.slice(from))
    if (base !== undefined) return base
    const dot = domain.indexOf(".", from)
    if (dot < 0) return bases.get("") ?? null
    from = dot + 1
  }
}
