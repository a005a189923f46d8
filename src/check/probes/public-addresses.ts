import type { Ask } from "../dns/question.ts"
import { FetchFault } from "./fetch-fault.ts"
import { publicAddress } from "./public-address.ts"

/**
 * The addresses of a name, each in its canonical form, IPv4 first. One that is not public stands for all: a name that leads
 * inwards at all leads there by intent or by a fault that is not ours to follow. It throws a `FetchFault`.
 *
 * IPv4 comes first because a translator's prefix of its own (RFC 6052 §2.2) cannot be told from a public network.
 */
export async function publicAddressesOf(ask: Ask, name: string): Promise<readonly string[]> {
  const answers = await Promise.all([ask({ name, type: "A" }), ask({ name, type: "AAAA" })])
  const records = answers.flatMap(answer => (answer.known ? answer.value.records : []))
  const addresses = records.flatMap(record => ("address" in record ? [publicAddress(record.address)] : []))
  const reachable = addresses.filter(address => address !== null)
  if (reachable.length < addresses.length) throw new FetchFault("not_public")
  if (reachable.length > 0) return reachable
  const failed = answers.find(answer => !answer.known)
  if (failed === undefined) throw new FetchFault("no_address")
  throw new FetchFault(failed.cause === "timed_out" ? "timed_out" : "dns_unavailable")
}
