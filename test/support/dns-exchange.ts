import type { SetTimer } from "../../src/base/outside-world.ts"
import {
  type DnsExchange,
  type DnsQuestion,
  type Resolver,
  type ServerQuery,
  type ServerReply,
  SILENT,
} from "../../src/check/dns/dns-types.ts"

/** A query whose reply a test receives. */
export const receivedQuery = (question: DnsQuestion, onReply: (reply: ServerReply) => void): ServerQuery => ({
  question,
  receiver: { onReply: (_query, reply) => onReply(reply) },
  id: 0,
  carrier: null,
})

/** An exchange whose replies are promises. A reply after a cancellation is dropped. */
export function exchangeOf(reply: (question: DnsQuestion) => Promise<ServerReply>): DnsExchange {
  const pending = new Set<ServerQuery>()
  const carrier = { cancel: (query: ServerQuery) => void pending.delete(query) }
  return {
    send: query => {
      pending.add(query)
      query.carrier = carrier
      const receive = (received: ServerReply) => {
        if (pending.delete(query)) query.receiver.onReply(query, received)
      }
      void reply(query.question).then(receive, (defect: unknown) => receive({ kind: "failed", defect }))
    },
    close: () => undefined,
  }
}

/** Servers that reply as a resolver does. */
export const replyOf =
  (resolver: Resolver) =>
  async (question: DnsQuestion): Promise<ServerReply> => {
    const finding = await resolver(question)
    if (finding.known) return { kind: "answered", answer: finding.value, pendingCname: null }
    return finding.cause === "timed_out" ? SILENT : { kind: "failed" }
  }

/** The reply to one question, which is `silent` and taken back after the time. */
export function replyWithin(
  exchange: DnsExchange,
  question: DnsQuestion,
  timeoutMs: number,
  setTimer: SetTimer,
): Promise<ServerReply> {
  return new Promise(resolve => {
    const query = receivedQuery(question, reply => {
      cancelTimer()
      resolve(reply)
    })
    const cancelTimer = setTimer(timeoutMs, () => {
      query.carrier?.cancel(query)
      resolve(SILENT)
    })
    exchange.send(query)
  })
}
