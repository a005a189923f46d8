import type { Outage } from "../../base/fault-log.ts"
import type { DnsOutage } from "../../check/dns/resolver/resolver-chain.ts"
import { type AppContext, faultsOf } from "../context.ts"

/** What tells an operator of outages of DNS. */
export type DnsOutageLog = {
  readonly onAvailabilityChange: (outage: DnsOutage | null) => void
  /** A domain had no evidence while DNS was of no use. */
  readonly countFailure: () => void
}

const OUTAGES: Readonly<Record<DnsOutage, Pick<Outage, "why" | "remedy">>> = {
  silent: {
    why: "None of them answers in time (ETIMEOUT).",
    remedy: "Check the network, or name other servers in MAILKIND_DNS_SERVERS.",
  },
  failing: {
    why: "Every answer is a failure (SERVFAIL, REFUSED).",
    remedy: "Name other servers in MAILKIND_DNS_SERVERS.",
  },
  denying: {
    why: "They deny names that exist (NXDOMAIN).",
    remedy:
      "Name other servers in MAILKIND_DNS_SERVERS, or names that these know in MAILKIND_DNS_CANARIES. In a network without DNS, set MAILKIND_DNS_SERVERS to `off`.",
  },
}

/** Logs when DNS begins to be of no use and when it is of use again, with the number of domains that had no evidence. */
export function createDnsOutageLog(context: AppContext, servers: () => readonly string[]): DnsOutageLog {
  const faults = faultsOf(context)
  const tell = faults.outages("warn", "DNS does not answer", "DNS answers again")
  let fault = ""
  return {
    onAvailabilityChange: outage => {
      fault = outage === null ? "" : `dns_${outage}`
      tell(outage === null ? null : { fault, where: servers().join(", "), ...OUTAGES[outage] })
    },
    countFailure: () => faults.countTask(fault),
  }
}
