import ENDPOINTS from "../../../data/identity/endpoints.json" with { type: "json" }

/** The clouds that suite_b runs in; each knows tenants of its own. */
export type Cloud = keyof typeof ENDPOINTS.urls

const CLOUDS: ReadonlyMap<string, string> = new Map(Object.entries(ENDPOINTS.mailHosts))

/** The cloud whose mail hosts a domain names; `worldwide` where it names none of another. Hosts are lower case, without a trailing dot. */
export function cloudOf(hosts: readonly string[]): Cloud {
  for (const host of hosts) {
    for (const [parent, cloud] of CLOUDS) {
      if (host.endsWith(`.${parent}`) && (cloud === "gov" || cloud === "cn")) return cloud
    }
  }
  return "worldwide"
}

/** Base address of each cloud's identity endpoints, without a trailing slash. */
export type IdentityUrls = { readonly [C in Cloud]: string }

/** The real base addresses, or `own` for every cloud. */
export const identityUrls = (own: string | null): IdentityUrls =>
  own === null ? ENDPOINTS.urls : { worldwide: own, gov: own, cn: own }

/** Whether a tenant's id is that of the consumers, whose accounts belong to persons. */
export const isConsumerTenant = (id: string): boolean => ENDPOINTS.consumerTenants.includes(id)
