import { Resolver } from "node:dns/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "bun"

const SERVER = fileURLToPath(import.meta.resolve("./dns-server.ts"))
const RESPONDER = fileURLToPath(import.meta.resolve("./dns-responder.c"))

/** The command of a DNS server for benches, and what it is. */
type DnsServerCommand = { readonly command: readonly [string, ...string[]]; readonly description: string }

/**
 * The server that answers after so many milliseconds: the one in C, compiled now, because it leaves the processor to what is measured; else,
 * where there is no C compiler, the same in this runtime.
 */
export function dnsServerCommand(delayMs: number): DnsServerCommand {
  const delay = ["--delay-ms", String(delayMs)] as const
  const program = join(tmpdir(), `mailkind-dns-responder.${process.pid}`)
  const isCompiled =
    Bun.which("cc") !== null && Bun.spawnSync(["cc", "-O2", "-o", program, RESPONDER], { stderr: "ignore" }).success
  return isCompiled
    ? { command: [program, ...delay], description: "the DNS server is dns-responder.c" }
    : { command: [process.execPath, SERVER, ...delay], description: "the DNS server is dns-server.ts: there is no cc" }
}

/** What the bench's DNS server at `url` says to the word: `count`, `mute` or `speak`. Rejects when it says nothing. */
export async function askDnsServer(url: URL, word: "count" | "mute" | "speak"): Promise<string> {
  const resolver = new Resolver({ timeout: 500, tries: 20 })
  resolver.setServers([url.host])
  return (await resolver.resolveTxt(`${word}.bench`)).flat().join("")
}
