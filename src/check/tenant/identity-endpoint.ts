import ENDPOINTS from "../../../data/identity/endpoints.json" with { type: "json" }
import { type Fetch, readTextBody } from "../../base/fetch.ts"
import type { Clock } from "../../base/outside-world.ts"
import { parseRetryAfter, settleRequest } from "../fetch/request.ts"

/** The clouds of suite_b. Each has tenants of its own. */
export type IdentityCloud = keyof typeof ENDPOINTS.urls

const CLOUD_BY_MAIL_HOST: ReadonlyMap<string, string> = new Map(Object.entries(ENDPOINTS.mailHosts))

/** The cloud to which the mail hosts belong; `worldwide` if they show no other. Hosts are lower case, without a trailing dot. */
export function cloudOfMailHosts(hosts: readonly string[]): IdentityCloud {
  for (const host of hosts) {
    for (const [parent, cloud] of CLOUD_BY_MAIL_HOST) {
      if (host.endsWith(`.${parent}`) && (cloud === "gov" || cloud === "cn")) return cloud
    }
  }
  return "worldwide"
}

/** The base URL of each cloud's identity endpoints, without a trailing slash. */
export type IdentityUrls = { readonly [C in IdentityCloud]: string }

/** The real base URLs, or `own` for every cloud. */
export const identityUrls = (own: string | null): IdentityUrls =>
  own === null ? ENDPOINTS.urls : { worldwide: own, gov: own, cn: own }

/** A domain reserved for documentation (RFC 2606), which every working endpoint answers for. Nobody can bring about its failure. */
export const RESERVED_DOMAIN = "example.com"

/** Whether it is the id of the tenant that holds the accounts of all consumers. */
export const isConsumerTenant = (id: string): boolean => ENDPOINTS.consumerTenants.includes(id)

/** The outcome of one request to an identity endpoint. */
export type IdentityResponse =
  /** Status 200 with JSON. */
  | { readonly kind: "answered"; readonly json: unknown }
  /** Any other status, a redirect too. `retryAfterMs` is null if there is no `Retry-After`. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs: number | null }
  /** There was no response, or it cannot be read. */
  | { readonly kind: "failed" }
  /** The response was not complete at the deadline. */
  | { readonly kind: "timed_out" }

/** A longer body is not read. Real bodies have about 2 KiB. */
const BODY_BYTES_MAX = 65_536

/** The body is requested uncompressed, so that its bound also bounds the memory. */
const REQUEST_HEADERS = { accept: "application/json", "accept-encoding": "identity", "user-agent": "mailkind" }

/** Sends one request to an identity endpoint. It never rejects, and settles at the latest when `deadline` is aborted. */
export function requestIdentity(
  fetchUrl: Fetch,
  clock: Clock,
  url: string,
  deadline: AbortSignal,
): Promise<IdentityResponse> {
  return settleRequest(sendRequest(fetchUrl, clock, url, deadline), deadline)
}

/** Rejects if there is no response, if the body breaks off, and if it is no JSON. */
async function sendRequest(fetchUrl: Fetch, clock: Clock, url: string, signal: AbortSignal): Promise<IdentityResponse> {
  const response = await fetchUrl(url, { signal, headers: REQUEST_HEADERS })
  const { status, headers } = response
  // The body of a refusal is read too, because only then the connection can be used again.
  const text = await readTextBody(response, BODY_BYTES_MAX)
  if (status !== 200)
    return { kind: "refused", status, retryAfterMs: parseRetryAfter(headers.get("retry-after"), clock()) }
  return text === null ? { kind: "failed" } : { kind: "answered", json: JSON.parse(text) }
}
