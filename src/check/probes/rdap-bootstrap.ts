import { domainToASCII } from "node:url"
import BUILT_IN from "../../../data/rdap/dns.json" with { type: "json" }
import { assert } from "../../base/assert.ts"
import { jsonIn } from "../../base/json.ts"
import { memberOf } from "./outside-text.ts"
import { mayServe } from "./rdap-url.ts"

/** Which RDAP server knows which domains (RFC 9224). */
export type Bootstrap = {
  /** The base URL, with a slash at its end, of the server that knows the domain; null: none does. The domain is A-labels, lower case. */
  readonly serviceOf: (domain: string) => string | null
  /** The names whose domains a server is known for; most are top-level domains. */
  readonly names: ReadonlySet<string>
  /** When it was published, in milliseconds since the Unix epoch; null: it does not say. */
  readonly publishedAtMs: number | null
}

/** A bootstrap that was read, or why it was not: a sentence for the log. */
export type BootstrapRead =
  | { readonly kind: "read"; readonly bootstrap: Bootstrap }
  | { readonly kind: "refused"; readonly says: string }

/** How many characters a bootstrap has at most. IANA's has 60 000. */
export const BOOTSTRAP_LENGTH_MAX = 1024 * 1024
const NAMES_MAX = 20_000
const URL_LENGTH_MAX = 1024

/** Labels of letters, digits and hyphens, which A-labels are too. The root is the empty name. */
const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.(?!$)|$))*$/

/** Why the text is no bootstrap. */
class Refusal extends Error {}

/**
 * Reads a bootstrap (RFC 9224 §3). Servers that may not be asked are passed over, and a name that has no other has none:
 * of those that may, the first serves. Anything else that is not as the RFC has it refuses the whole.
 */
export function readBootstrap(text: string, isOwn: boolean): BootstrapRead {
  try {
    if (text.length > BOOTSTRAP_LENGTH_MAX) throw new Refusal(`It has more than ${BOOTSTRAP_LENGTH_MAX} characters.`)
    return { kind: "read", bootstrap: bootstrapIn(parsed(text), isOwn) }
  } catch (fault) {
    if (fault instanceof Refusal) return { kind: "refused", says: fault.message }
    throw fault
  }
}

let builtIn: Bootstrap | null = null

/** The bootstrap that the program carries, read when it is first asked for. */
export function builtInBootstrap(): Bootstrap {
  builtIn ??= bootstrapIn(BUILT_IN, false)
  assert(builtIn.names.size > 0, "the bootstrap that is built in names servers")
  return builtIn
}

function parsed(text: string): unknown {
  const json = jsonIn(text)
  if (json === undefined) throw new Refusal("It is no JSON.")
  return json
}

function bootstrapIn(json: unknown, isOwn: boolean): Bootstrap {
  if ((memberOf(json, "version") ?? "1.0") !== "1.0") throw new Refusal("Its version is not 1.0.")
  const services = memberOf(json, "services")
  if (!Array.isArray(services)) throw new Refusal("It has no list of services.")
  const bases = new Map<string, string>()
  for (const service of services) {
    const [names, urls] = partsOf(service)
    const base = urls.map(url => baseUrl(url, isOwn)).find(url => url !== null)
    if (base !== undefined) for (const name of names) bases.set(nameIn(name), base)
    if (bases.size > NAMES_MAX) throw new Refusal(`It has more than ${NAMES_MAX} names.`)
  }
  return {
    serviceOf: domain => longestMatch(bases, domain),
    names: new Set(bases.keys()),
    publishedAtMs: publicationIn(memberOf(json, "publication")),
  }
}

/** A service is a pair of lists of texts (RFC 9224 §3). */
function partsOf(service: unknown): readonly [names: readonly string[], urls: readonly string[]] {
  if (!Array.isArray(service) || service.length !== 2) throw new Refusal("A service is no pair.")
  const [names, urls]: unknown[] = service
  if (!isTexts(names) || !isTexts(urls)) throw new Refusal("A service is no pair of lists of texts.")
  return [names, urls]
}

const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every(text => typeof text === "string")

function nameIn(written: string): string {
  const name = written === "." ? "" : /^[\x21-\x7e]*$/.test(written) ? written.toLowerCase() : domainToASCII(written)
  if (!NAME.test(name) || (name === "" && written !== "" && written !== ".")) throw new Refusal("A name is none.")
  return name
}

/** The URL with a slash at its end; null: it may not be asked, or nothing can be put after it. */
function baseUrl(written: string, isOwn: boolean): string | null {
  const url = written.length > URL_LENGTH_MAX ? null : URL.parse(written)
  if (url === null || /[?#]/.test(written) || !mayServe(url, isOwn)) return null
  return url.href.endsWith("/") ? url.href : `${url.href}/`
}

function publicationIn(written: unknown): number | null {
  if (written === undefined) return null
  const publishedAtMs = typeof written === "string" ? Date.parse(written) : Number.NaN
  if (Number.isNaN(publishedAtMs)) throw new Refusal("Its publication is no date.")
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
