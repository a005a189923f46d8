import type { Finding } from "../../../base/finding.ts"
import type { DnsAnswer, Resolver } from "../dns-types.ts"

/** Lets everybody who asks the same question at the same time have the one finding. */
export function withSingleFlight(resolver: Resolver): Resolver {
  const inFlight = new Map<string, Promise<Finding<DnsAnswer>>>()
  return question => {
    const key = `${question.type} ${question.name}`
    const shared = inFlight.get(key)
    if (shared !== undefined) return shared
    const own = resolver(question).then(finding => {
      inFlight.delete(key)
      return finding
    })
    inFlight.set(key, own)
    return own
  }
}
