import { Resolver } from "node:dns/promises"

/** What the bench's DNS server at `url` says to the word: `count`, `mute` or `speak`. Rejects when it says nothing. */
export async function askDnsServer(url: URL, word: "count" | "mute" | "speak"): Promise<string> {
  const resolver = new Resolver({ timeout: 500, tries: 20 })
  resolver.setServers([url.host])
  return (await resolver.resolveTxt(`${word}.bench`)).flat().join("")
}
