import type { Finding } from "../../../base/finding.ts"
import { SingleFlight } from "../../../base/single-flight.ts"
import type { DnsAnswer, Resolver } from "../dns-types.ts"

/** Sends equal questions that are in flight at the same time only once. All of them get the same finding. */
export function withSingleFlight(resolver: Resolver): Resolver {
  const flights = new SingleFlight<string, Finding<DnsAnswer>>()
  return question => flights.run(`${question.type} ${question.name}`, () => resolver(question))
}
