import type { ServerFault } from "./server-health.ts"

/**
 * `silent`: no server answers in time. `refused`: each of them answers REFUSED, or nothing listens at its port. `failing`: they answer every
 * question with a failure. `denying`: they deny the canaries.
 */
export type DnsOutageKind = "silent" | "refused" | "failing" | "denying"

/** The kinds that are told without a look at what each server replied. */
export type SeenOutage = Exclude<DnsOutageKind, "refused">

/** An outage, and what is wrong with each server, in their order. */
export type DnsOutage = { readonly kind: DnsOutageKind; readonly faults: readonly ServerFault[] }

/** The outage that is seen, with what is wrong with each server. A canary that was answered with a failure is not denied. */
export function dnsOutageOf(seen: SeenOutage | null, faults: readonly ServerFault[]): DnsOutage | null {
  if (seen === null) return null
  if (faults.every(({ why }) => why !== null && REFUSALS.has(why))) return { kind: "refused", faults }
  if (faults.every(({ fault }) => fault === "silent")) return { kind: "silent", faults }
  const isDenied = faults.some(({ fault }) => fault === "none")
  return { kind: seen === "denying" && !isDenied ? "failing" : seen, faults }
}

/** What a server that does not serve this host replies, and what the system says where nothing listens at its port. */
const REFUSALS: ReadonlySet<string> = new Set(["REFUSED", "ECONNREFUSED"])

/** What an operator does about servers that are of no use. */
export const DNS_REMEDIES: { readonly [K in DnsOutageKind | "unnamed"]: string } = {
  silent:
    "Check whether they run, and the network and the firewall to their port by UDP and TCP; or name other servers in MAILKIND_DNS_SERVERS.",
  refused:
    "Start the resolver at that address and port, and allow this host in its access list; or name other servers in MAILKIND_DNS_SERVERS.",
  failing:
    "They run and cannot resolve: look at their logs and at what they forward to; or name other servers in MAILKIND_DNS_SERVERS.",
  denying:
    "Name other servers in MAILKIND_DNS_SERVERS, or names that these know in MAILKIND_DNS_CANARIES. In a network without DNS, set MAILKIND_DNS_SERVERS to `off`.",
  unnamed:
    "Name servers in MAILKIND_DNS_SERVERS, or set it to `off` if verdicts are to come from the lists alone. Then restart.",
}

/** What is wrong with a server, in words that tell a refusal from silence. */
export function faultText(kind: DnsOutageKind, { fault, why }: ServerFault): string {
  if (fault === "failed") return why === null ? "sends replies that cannot be read" : `answers ${why}`
  if (fault === "none") return kind === "denying" ? "denies names that exist (NXDOMAIN)" : "was not asked yet"
  if (why === "ECONNREFUSED") return "refuses: nothing listens at its port (ECONNREFUSED)"
  return why === null ? "does not answer in time (ETIMEOUT)" : `cannot be reached (${why})`
}
