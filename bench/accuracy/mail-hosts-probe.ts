import { Deadline } from "../../src/base/concurrency.ts"
import { known, NOT_QUERIED } from "../../src/base/finding.ts"
import type { AskDns, DnsQuestion, DnsRecord } from "../../src/check/dns/dns-types.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import type { NetworkProbe } from "../../src/check/network-evidence.ts"

/** A public address (RFC 6890 has no special use for it) that no known service has. */
const ADDRESS = "93.184.215.14"
const TTL_S = 300

/** Mail looked up in a DNS where every name has an address and one mail host of its own, and nothing else. */
export function mailHostsProbe(): NetworkProbe {
  const probe = createMailProbe({ ask: answer, clock: () => 0 })
  return async ({ domain, organisationalDomain }) => {
    // Every answer is there at once, so that no timer is needed.
    const deadline = new Deadline(() => () => undefined, 0)
    return { ...(await probe(domain, organisationalDomain, deadline)), tenant: NOT_QUERIED }
  }
}

const answer: AskDns = (question, onFinding) => {
  const records = recordsOf(question)
  const outcome = records.length > 0 ? "records" : "no_data"
  onFinding(known({ outcome, records, ttlS: TTL_S, isCached: false, freshUntilMs: TTL_S * 1000 }))
}

function recordsOf({ name, type }: DnsQuestion): readonly DnsRecord[] {
  if (type === "MX") return [{ type, preference: 10, exchange: `mx.${name}` }]
  return type === "A" ? [{ type, address: ADDRESS }] : []
}
