import { assert } from "../../base/assert.ts"
import { Budget } from "../../base/budget.ts"
import { type Connect, ConnectFault, type Connection, type Endpoint } from "../../base/connect.ts"
import type { Later } from "../../base/timer.ts"
import { isRedirect } from "../../base/web.ts"
import type { Ask } from "../dns/question.ts"
import { ACCEPTED_CODINGS, decoded } from "./content-coding.ts"
import { type FetchCause, FetchFault } from "./fetch-fault.ts"
import { type FetchTarget, fetchTarget } from "./fetch-target.ts"
import { type ResponseHead, readBody, readHead } from "./http-response.ts"
import { publicAddressesOf } from "./public-addresses.ts"
import { WireReader } from "./wire-reader.ts"

/** What a guarded fetch asks by, and how it names itself (RFC 9110 §10.1.5). */
export type GuardedFetchNeeds = {
  readonly ask: Ask
  readonly connect: Connect
  readonly later: Later
  /** Printable ASCII; says who asks, and where they can be reached. */
  readonly agent: string
}

/** How far a guarded fetch goes. */
export const FETCH_BOUNDS = {
  /** For all of it, redirects included. */
  timeoutMs: 5000,
  /** For one connection to stand. */
  connectMs: 2000,
  /** How many addresses of a name are tried. */
  addressesMax: 2,
  redirectsMax: 3,
  /** Of one answer, what announces it included. */
  headBytesMax: 32_768,
  /** Of a body, before and after decompression; of a longer one the beginning is taken. */
  bodyBytesMax: 262_144,
  /** Of all that one connection brings; it leaves room for chunks of a few octets each. */
  wireBytesMax: 1_048_576,
} as const

/** A budget, or several as one. */
export type Within = Pick<Budget, "wait" | "isOver">

/** The answer that is no redirect. */
export type Page = {
  readonly status: number
  /** `Content-Type`, as it came; null: it says nothing. */
  readonly contentType: string | null
  /** The body after decompression, or its beginning. */
  readonly body: Uint8Array
  readonly isCut: boolean
  /** A redirect led from https to http. */
  readonly isDowngraded: boolean
}

/** The fate of a guarded fetch. `trail`: every URL it came to, the last one of which it may have refused. */
export type Fetched = { readonly trail: readonly string[] } & (
  | { readonly known: true; readonly value: Page }
  | { readonly known: false; readonly cause: FetchCause }
)

/**
 * Asks for a URL whose host somebody else chose. Only names are asked, on ports 80 and 443; a name is resolved once, all its
 * addresses must be public, and the connection goes to one of these very addresses, under the name. Each redirect goes
 * through all of it again. No cookie is kept or sent. It never rejects, it settles within the time of its own and of
 * the budget, and no connection outlives it.
 */
export type GuardedFetch = (url: string, budget: Within) => Promise<Fetched>

/** Builds a guarded fetch. */
export function guardedFetch(needs: GuardedFetchNeeds): GuardedFetch {
  assert(/^[ -~]+$/.test(needs.agent), "who asks is told in printable ASCII")
  return async (url, budget) => {
    const trail: string[] = []
    const own = new Budget(needs.later, FETCH_BOUNDS.timeoutMs)
    const ending = new AbortController()
    try {
      const page = follow({ ...needs, signal: ending.signal }, url, trail)
      const value = await budget.wait(own.wait(page, null), null)
      if (value === null) throw new FetchFault("timed_out")
      return { known: true, value, trail: [...trail] }
    } catch (fault) {
      return { known: false, cause: fault instanceof FetchFault ? fault.why : "failed", trail: [...trail] }
    } finally {
      own.end()
      ending.abort()
    }
  }
}

type Asking = GuardedFetchNeeds & { readonly signal: AbortSignal }

async function follow(asking: Asking, first: string, trail: string[]): Promise<Page> {
  let at = targetOf(first)
  let isDowngraded = false
  for (let redirects = 0; ; redirects++) {
    trail.push(at.href)
    const answer = await ask(asking, at)
    if (!("redirect" in answer)) return { ...answer, isDowngraded }
    if (redirects === FETCH_BOUNDS.redirectsMax) throw new FetchFault("too_many_redirects")
    const next = targetOf(answer.redirect, at.href, trail)
    isDowngraded ||= at.isTls && !next.isTls
    at = next
  }
}

function targetOf(text: string, base?: string, trail?: string[]): FetchTarget {
  const target = fetchTarget(text, base)
  if (typeof target !== "string") return target
  const refused = URL.parse(text, base)
  if (refused !== null) trail?.push(refused.href)
  throw new FetchFault(target)
}

/** Puts one request on a connection of its own: where it is redirected to, or the page. */
async function ask(asking: Asking, target: FetchTarget): Promise<Omit<Page, "isDowngraded"> | { redirect: string }> {
  const connection = await connected(asking, target)
  connection.send(requestFor(target, asking.agent))
  const wire = new WireReader(connection.parts, FETCH_BOUNDS.wireBytesMax)
  const head = await readHead(wire, FETCH_BOUNDS.headBytesMax)
  const redirect = redirectIn(head)
  // Its body is not read; the connection ends with the fetch.
  if (redirect !== null) return { redirect }
  const { bodyBytesMax } = FETCH_BOUNDS
  const raw = await readBody(wire, head, bodyBytesMax)
  const { bytes, isCut } = await decoded(raw, head.headers.get("content-encoding"), bodyBytesMax)
  return { status: head.status, contentType: head.headers.get("content-type") ?? null, body: bytes, isCut }
}

const redirectIn = ({ status, headers }: ResponseHead): string | null =>
  isRedirect(status) ? (headers.get("location") ?? null) : null

/** Every URL that can be asked for has a name in printable ASCII and such a path, so no line can be slipped in. */
function requestFor({ name, port, path, isTls }: FetchTarget, agent: string): string {
  const host = port === (isTls ? 443 : 80) ? name : `${name}:${port}`
  const headers = {
    Host: host,
    "User-Agent": agent,
    Accept: "text/html, application/xhtml+xml;q=0.9, */*;q=0.5",
    "Accept-Encoding": ACCEPTED_CODINGS,
    Connection: "close",
  }
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`
}

/** Connects to the first of the name's addresses that takes it; all of them were judged before the first is tried. */
async function connected(asking: Asking, { name, port, isTls }: FetchTarget): Promise<Connection> {
  const addresses = await publicAddressesOf(asking.ask, name)
  const tlsName = isTls ? name : null
  let failed: FetchCause = "no_address"
  for (const address of addresses.slice(0, FETCH_BOUNDS.addressesMax)) {
    const made = await attempt(asking, { address, port, tlsName })
    if (typeof made !== "string") return made
    failed = made
    // Its other addresses would show the same certificate.
    if (failed === "untrusted") break
  }
  throw new FetchFault(failed)
}

async function attempt({ connect, later, signal }: Asking, endpoint: Endpoint): Promise<Connection | FetchCause> {
  // Whoever asked may be gone by the time that DNS has answered.
  if (signal.aborted) return "timed_out"
  const ending = new AbortController()
  signal.addEventListener("abort", () => ending.abort(), { once: true })
  const budget = new Budget(later, FETCH_BOUNDS.connectMs)
  const opened = connect(endpoint, ending.signal).catch(causeOf)
  const made = await budget.wait<Connection | FetchCause>(opened, "timed_out")
  budget.end()
  if (made === "timed_out") ending.abort()
  return made
}

function causeOf(fault: unknown): FetchCause {
  if (fault instanceof ConnectFault) return fault.why
  throw fault
}
