import { Deadline } from "../../base/concurrency.ts"
import { type ByteConnection, type Connect, ConnectError, type ConnectTarget } from "../../base/connect.ts"
import { assert } from "../../base/errors.ts"
import { isRedirect } from "../../base/fetch.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import type { CachingResolver } from "../dns/dns-types.ts"
import { FetchError, type FetchErrorCause, type FetchTarget, parseFetchTarget } from "./fetch-target.ts"
import {
  ACCEPTED_CODINGS,
  ConnectionReader,
  decodeBody,
  type ResponseHead,
  readResponseBody,
  readResponseHead,
} from "./http-response.ts"
import { resolvePublicAddresses } from "./public-address.ts"

/** What a guarded fetch asks by, and how it names itself (RFC 9110 §10.1.5). */
export type GuardedFetchDeps = {
  readonly resolver: CachingResolver
  readonly connect: Connect
  readonly setTimer: SetTimer
  /** Printable ASCII; says who asks, and where they can be reached. */
  readonly userAgent: string
}

/** How far a guarded fetch goes. */
export const GUARDED_FETCH_BOUNDS = {
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
export type DeadlineView = Pick<Deadline, "wait" | "isExpired">

/** The answer that is no redirect. */
export type FetchedPage = {
  readonly status: number
  /** `Content-Type`, as it came; null: it says nothing. */
  readonly contentType: string | null
  /** The body after decompression, or its beginning. */
  readonly body: Uint8Array
  readonly isTruncated: boolean
  /** A redirect led from https to http. */
  readonly isDowngraded: boolean
}

/** The fate of a guarded fetch. `trail`: every URL it came to, the last one of which it may have refused. */
export type GuardedFetchResult = { readonly redirectChain: readonly string[] } & (
  | { readonly known: true; readonly value: FetchedPage }
  | { readonly known: false; readonly cause: FetchErrorCause }
)

/**
 * Asks for a URL whose host somebody else chose. Only names are asked, on ports 80 and 443; a name is resolved once, all its
 * addresses must be public, and the connection goes to one of these very addresses, under the name. Each redirect goes
 * through all of it again. No cookie is kept or sent. It never rejects, it settles within the time of its own and of
 * the budget, and no connection outlives it.
 */
export type GuardedFetch = (url: string, budget: DeadlineView) => Promise<GuardedFetchResult>

/** Builds a guarded fetch. */
export function createGuardedFetch(needs: GuardedFetchDeps): GuardedFetch {
  assert(/^[ -~]+$/.test(needs.userAgent), "who asks is told in printable ASCII")
  return async (url, budget) => {
    const trail: string[] = []
    const own = new Deadline(needs.setTimer, GUARDED_FETCH_BOUNDS.timeoutMs)
    const ending = new AbortController()
    try {
      const page = followRedirects({ ...needs, signal: ending.signal }, url, trail)
      const value = await budget.wait(own.wait(page, null), null)
      if (value === null) throw new FetchError("timed_out")
      return { known: true, value, redirectChain: [...trail] }
    } catch (fault) {
      return { known: false, cause: fault instanceof FetchError ? fault.reason : "failed", redirectChain: [...trail] }
    } finally {
      own.cancel()
      ending.abort()
    }
  }
}

type FetchContext = GuardedFetchDeps & { readonly signal: AbortSignal }

async function followRedirects(asking: FetchContext, first: string, trail: string[]): Promise<FetchedPage> {
  let at = requireTarget(first)
  let isDowngraded = false
  for (let redirects = 0; ; redirects++) {
    trail.push(at.href)
    const answer = await requestOnce(asking, at)
    if (!("redirect" in answer)) return { ...answer, isDowngraded }
    if (redirects === GUARDED_FETCH_BOUNDS.redirectsMax) throw new FetchError("too_many_redirects")
    const next = requireTarget(answer.redirect, at.href, trail)
    isDowngraded ||= at.isTls && !next.isTls
    at = next
  }
}

function requireTarget(text: string, base?: string, trail?: string[]): FetchTarget {
  const target = parseFetchTarget(text, base)
  if (typeof target !== "string") return target
  const refused = URL.parse(text, base)
  if (refused !== null) trail?.push(refused.href)
  throw new FetchError(target)
}

/** Puts one request on a connection of its own: where it is redirected to, or the page. */
async function requestOnce(
  asking: FetchContext,
  target: FetchTarget,
): Promise<Omit<FetchedPage, "isDowngraded"> | { redirect: string }> {
  const connection = await connectToHost(asking, target)
  connection.send(requestText(target, asking.userAgent))
  const wire = new ConnectionReader(connection.chunks, GUARDED_FETCH_BOUNDS.wireBytesMax)
  const head = await readResponseHead(wire, GUARDED_FETCH_BOUNDS.headBytesMax)
  const redirect = redirectLocation(head)
  // Its body is not read; the connection ends with the fetch.
  if (redirect !== null) return { redirect }
  const { bodyBytesMax } = GUARDED_FETCH_BOUNDS
  const raw = await readResponseBody(wire, head, bodyBytesMax)
  const { bytes, isTruncated } = await decodeBody(raw, head.headers.get("content-encoding"), bodyBytesMax)
  return { status: head.status, contentType: head.headers.get("content-type") ?? null, body: bytes, isTruncated }
}

const redirectLocation = ({ status, headers }: ResponseHead): string | null =>
  isRedirect(status) ? (headers.get("location") ?? null) : null

/** Every URL that can be asked for has a name in printable ASCII and such a path, so no line can be slipped in. */
function requestText({ host: name, port, path, isTls }: FetchTarget, agent: string): string {
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
async function connectToHost(asking: FetchContext, { host: name, port, isTls }: FetchTarget): Promise<ByteConnection> {
  const addresses = await resolvePublicAddresses(asking.resolver, name)
  const tlsName = isTls ? name : null
  let failed: FetchErrorCause = "no_address"
  for (const address of addresses.slice(0, GUARDED_FETCH_BOUNDS.addressesMax)) {
    const made = await connectToAddress(asking, { address, port, tlsName })
    if (typeof made !== "string") return made
    failed = made
    // Its other addresses would show the same certificate.
    if (failed === "untrusted") break
  }
  throw new FetchError(failed)
}

async function connectToAddress(
  { connect, setTimer, signal }: FetchContext,
  endpoint: ConnectTarget,
): Promise<ByteConnection | FetchErrorCause> {
  // Whoever asked may be gone by the time that DNS has answered.
  if (signal.aborted) return "timed_out"
  const ending = new AbortController()
  signal.addEventListener("abort", () => ending.abort(), { once: true })
  const budget = new Deadline(setTimer, GUARDED_FETCH_BOUNDS.connectMs)
  const opened = connect(endpoint, ending.signal).catch(toFetchErrorCause)
  const made = await budget.wait<ByteConnection | FetchErrorCause>(opened, "timed_out")
  budget.cancel()
  if (made === "timed_out") ending.abort()
  return made
}

function toFetchErrorCause(fault: unknown): FetchErrorCause {
  if (fault instanceof ConnectError) return fault.reason
  throw fault
}
