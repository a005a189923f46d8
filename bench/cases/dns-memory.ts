/**
 * Run as a process of its own: how much does the heap grow by a cache of DNS answers that is given the names of
 * `--names N`, five questions each? It prints JSON.
 */

import { heapStats } from "bun:jsc"
import { gc } from "bun"
import { known } from "../../src/base/finding.ts"
import type { DnsAnswer, DnsQuestion, DnsRecord } from "../../src/check/dns/dns-types.ts"
import { DnsCache } from "../../src/check/dns/resolver/dns-cache.ts"
import { runToEnd } from "../servers/server-process.ts"

/** What a cache holds, and what that takes. */
export type CacheMemory = { readonly entries: number; readonly estimatedBytes: number; readonly heapBytes: number }

const TIMEOUT_MS = 120_000
const TYPES = ["MX", "A", "AAAA", "TXT"] as const

/** What a cache that was asked about so many names costs a fresh process. */
export async function cacheHeld(names: number): Promise<CacheMemory> {
  return JSON.parse(await runToEnd({ command: [process.execPath, import.meta.path, String(names)] }, "", TIMEOUT_MS))
}

/** Answers as a small company has them; texts are cut anew, as they are from packets. */
const answerTo = ({ name, type }: DnsQuestion) => {
  const records = { MX: mx, TXT: txt, A: a, AAAA: aaaa }[type as (typeof TYPES)[number]]
  const answer: DnsAnswer = { outcome: "records", records: records(name), ttlS: 3600 }
  return known(answer)
}

const mx = (name: string): DnsRecord[] => [
  { type: "MX", preference: 10, exchange: `mx1.${name}` },
  { type: "MX", preference: 20, exchange: `mx2.${name}` },
]
const txt = (name: string): DnsRecord[] => [
  { type: "TXT", text: `v=spf1 include:_spf.${name} include:spf.protection.outlook.com -all` },
  { type: "TXT", text: `google-site-verification=${Bun.hash(name).toString(36).padEnd(43, "x")}` },
]
const a = (name: string): DnsRecord[] => [{ type: "A", address: `192.0.2.${name.length}` }]
const aaaa = (name: string): DnsRecord[] => [{ type: "AAAA", address: `2001:db8::${name.length}` }]

if (import.meta.main) {
  const names = Number(process.argv[2])
  const before = heapNow()
  const cache = new DnsCache(Date.now)
  const ask = (question: DnsQuestion) =>
    cache.ask(
      question,
      onEnd => onEnd(answerTo(question)),
      () => undefined,
    )
  for (let at = 0; at < names; at++) {
    const name = `harbor-freight-${at}.com`
    for (const type of TYPES) await ask({ name, type })
    await ask({ name: `_dmarc.${name}`, type: "TXT" })
  }
  const heapBytes = heapNow() - before
  const { entries, bytes } = cache.stats()
  console.log(JSON.stringify({ entries, estimatedBytes: bytes, heapBytes } satisfies CacheMemory))
}

function heapNow(): number {
  gc(true)
  return heapStats().heapSize
}
