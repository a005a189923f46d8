import { type CanaryFate, canaryFate } from "../check/dns/believing.ts"
import type { Resolver } from "../check/dns/question.ts"
import { doubtful, type Examined, failing, well } from "./examined.ts"

/** One DNS server, as the setting names it, and what asks it alone. */
export type AskedServer = { readonly name: string; readonly resolver: Resolver }

/** What any resolver has an answer to: who serves the root (RFC 8109). It is asked where there is no canary. */
const ROOT = { name: "", type: "NS" } as const

/** What a server says of all canaries, in words. */
const WORDS: { readonly [F in CanaryFate]: string } = {
  alive: "knows the canaries",
  denied: "denies every canary",
  silent: "says nothing",
}

const REMEDY =
  "Set MAILKIND_DNS_SERVERS to servers that resolve public names, and let this host reach their port by UDP and TCP."

/** Asks each server for the canaries, or for the root where there is none. One canary that is known is enough. */
export async function examineResolvers(
  servers: readonly AskedServer[],
  canaries: readonly string[],
): Promise<Examined> {
  if (servers.length === 0) return failing("The system names no DNS server.", "Set MAILKIND_DNS_SERVERS.")
  const found = await Promise.all(
    servers.map(async ({ name, resolver }) => ({ name, fate: await fateAt(resolver, canaries) })),
  )
  const seen = `${found.map(({ name, fate }) => `${name} ${WORDS[fate]}`).join("; ")}.`
  const aliveCount = found.filter(({ fate }) => fate === "alive").length
  if (aliveCount === found.length) return well(seen)
  return aliveCount === 0 ? failing(seen, REMEDY) : doubtful(seen, REMEDY)
}

async function fateAt(resolver: Resolver, canaries: readonly string[]): Promise<CanaryFate> {
  if (canaries.length === 0) {
    const finding = await resolver(ROOT)
    if (!finding.known) return finding.cause === "timed_out" ? "silent" : "denied"
    return finding.value.outcome === "records" ? "alive" : "denied"
  }
  const fates = await Promise.all(canaries.map(name => canaryFate(name, resolver)))
  if (fates.includes("alive")) return "alive"
  return fates.includes("silent") ? "silent" : "denied"
}
