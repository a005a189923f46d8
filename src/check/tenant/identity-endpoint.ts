import ENDPOINTS from "../../../data/identity/endpoints.json" with { type: "json" }
import { type Fetch, readTextBody } from "../../base/fetch.ts"
import type { Clock } from "../../base/outside-world.ts"
import { parseRetryAfter } from "../fetch/retry-after.ts"

/** The clouds that suite_b runs in; each knows tenants of its own. */
export type IdentityCloud = keyof typeof ENDPOINTS.urls

const CLOUD_BY_MAIL_HOST: ReadonlyMap<string, string> = new Map(Object.entries(ENDPOINTS.mailHosts))

/** The cloud whose mail hosts a domain names; `worldwide` where it names none of another. Hosts are lower case, without a trailing dot. */
export function cloudOfMailHosts(hosts: readonly string[]): IdentityCloud {
  for (const host of hosts) {
    for (const [parent, cloud] of CLOUD_BY_MAIL_HOST) {
      if (host.endsWith(`.${parent}`) && (cloud === "gov" || cloud === "cn")) return cloud
    }
  }
  return "worldwide"
}

/** Base address of each cloud's identity endpoints, without a trailing slash. */
export type IdentityUrls = { readonly [C in IdentityCloud]: string }

/** The real base addresses, or `own` for every cloud. */
export const identityUrls = (own: string | null): IdentityUrls =>
  own === null ? ENDPOINTS.urls : { worldwide: own, gov: own, cn: own }

/** Whether a tenant's id is that of the consumers, whose accounts belong to persons. */
export const isConsumerTenant = (id: string): boolean => ENDPOINTS.consumerTenants.includes(id)

/** What an identity endpoint made of one request. */
export type IdentityResponse =
  /** Status 200 with JSON. */
  | { readonly kind: "told"; readonly json: unknown }
  /** Any other status; a redirect is one. `parseRetryAfter` is null when it does not say when to come again. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs: number | null }
  /** Nobody answered, or with what cannot be read. */
  | { readonly kind: "failed" }
  /** No whole answer before the deadline. */
  | { readonly kind: "timed_out" }

/** A longer body is not read; the real ones have about 2 KiB. */
const BODY_BYTES_MAX = 65_536

/** All that is told about us. Uncompressed, so that the bound on the body is one on memory too. */
const REQUEST_HEADERS = { accept: "application/json", "accept-encoding": "identity", "user-agent": "mailkind" }

/** Puts one request to an identity endpoint. It never rejects, and it settles when `deadline` is aborted at the latest. */
export function requestIdentity(
  web: Fetch,
  clock: Clock,
  url: string,
  deadline: AbortSignal,
): Promise<IdentityResponse> {
  return new Promise(resolve => {
    deadline.addEventListener("abort", () => resolve({ kind: "timed_out" }), { once: true })
    sendRequest(web, clock, url, deadline).then(resolve, () => resolve({ kind: "failed" }))
  })
}

/** Rejects when nobody answers, when the body breaks off, and when it is no JSON. */
async function sendRequest(web: Fetch, clock: Clock, url: string, signal: AbortSignal): Promise<IdentityResponse> {
  const response = await web(url, { signal, headers: REQUEST_HEADERS })
  const { status, headers } = response
  // The body of a refusal is read too, for only then the connection can be used again.
  const text = await readTextBody(response, BODY_BYTES_MAX)
  if (status !== 200)
    return { kind: "refused", status, retryAfterMs: parseRetryAfter(headers.get("retry-after"), clock()) }
  return text === null ? { kind: "failed" } : { kind: "told", json: JSON.parse(text) }
}
