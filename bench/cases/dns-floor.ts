/**
 * The least that a program in this runtime can do with DNS: it asks the questions of a cold check over a few sockets and reads
 * the answers with a library, without a cache, deadlines or limits.
 */

import { decode, encode } from "dns-packet"

/** The questions of a cold check about a domain with mail at a known provider. */
const QUESTIONS = [
  { type: "MX", below: "" },
  { type: "A", below: "" },
  { type: "TXT", below: "" },
  { type: "TXT", below: "_dmarc." },
] as const

const IDS = 65_536
/** One socket's buffer holds 277 small packets. */
const SOCKETS = 8
/** What was lost all the same is asked again, a round of this after it was sent at the latest. */
const RESEND_MS = 1000

/** Asks a DNS server about domains, and gives a function that ends when all its questions about a domain are answered. */
export async function openDnsFloor({ hostname, port }: URL) {
  const pending = new Map<number, { readonly resolve: () => void; readonly send: () => void }>()
  const data = (_: unknown, packet: Buffer): void => {
    const { id = -1 } = decode(packet)
    pending.get(id)?.resolve()
    pending.delete(id)
  }
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, () =>
      Bun.udpSocket({ connect: { hostname, port: Number(port) }, socket: { data } }),
    ),
  )
  const timer = setInterval(() => {
    for (const { send } of pending.values()) send()
  }, RESEND_MS)
  let last = 0
  const ask = (type: "MX" | "A" | "TXT", name: string): Promise<void> => {
    last = (last + 1) % IDS
    const { promise, resolve } = Promise.withResolvers<void>()
    const packet = encode({ type: "query", id: last, flags: 0x100, questions: [{ type, name }] })
    const socket = sockets[last % SOCKETS]
    const send = (): void => void socket?.send(packet)
    pending.set(last, { resolve, send })
    send()
    return promise
  }
  return {
    askAbout: (domain: string) => Promise.all(QUESTIONS.map(({ type, below }) => ask(type, `${below}${domain}`))),
    close: () => {
      clearInterval(timer)
      for (const socket of sockets) socket.close()
    },
  }
}
