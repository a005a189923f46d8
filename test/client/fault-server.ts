import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestEnd } from "../support/on-test-end.ts"

/** A result as the API sends it: what a client reads of it. */
export const verdictOf = (email: string) => ({
  ...{
    email,
    category: "business",
    is_business: true,
    recommendation: "allow",
    confidence: 0.9,
    reasons: ["mx_found"],
  },
  ...{ degraded: false, workspace: { pending: false } },
})

/** A problem as the API sends it. */
export const problemOf = (status: number, code: string, more: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({
    type: `https://x.test/docs/errors#${code}`,
    title: "x",
    status,
    code,
    detail: `about ${code}`,
    ...more,
  })

/** What is done with one request. */
export type FaultReply = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** A reply with this status, body and headers. */
export const says =
  (status: number, text: string, headers: Readonly<Record<string, string>> = {}): FaultReply =>
  (_, response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers })
    response.end(text)
  }

/** The right answer to a check or a batch. */
export const answers: FaultReply = (request, response, body) => {
  const { email, items } = JSON.parse(body === "" ? "{}" : body)
  const isBatch = request.url === "/v1/check/batch"
  const answer = isBatch ? { results: items.map(verdictOf), took_ms: 1, request_id: "r" } : verdictOf(email)
  says(200, JSON.stringify(answer))(request, response, body)
}

/** The table of faults: how a server fails, and what a client makes of it. */
export const FAULTS = {
  "a server error": { reply: says(500, problemOf(500, "internal_error")), because: "server_error", isRetried: true },
  "an error page of a proxy": { reply: says(502, "<html>bad gateway"), because: "server_error", isRetried: true },
  "an overloaded server": {
    reply: says(503, problemOf(503, "overloaded", { retry_after: 2 }), { "Retry-After": "2" }),
    because: "server_error",
    isRetried: true,
  },
  "a rate limit of a second": {
    reply: says(429, problemOf(429, "rate_limited", { retry_after: 1 }), { "Retry-After": "1" }),
    because: "rate_limited",
    isRetried: true,
  },
  "a quota of three hours": {
    reply: says(429, problemOf(429, "quota_exceeded", { retry_after: 10_984, needed: 1, remaining: 0 }), {
      "Retry-After": "10984",
    }),
    because: "quota_exceeded",
    isRetried: false,
  },
  "a revoked key": { reply: says(401, problemOf(401, "key_revoked")), because: "refused", isRetried: false },
  "a wrong request": { reply: says(400, problemOf(400, "invalid_input")), because: "refused", isRetried: false },
  "a wrong policy": {
    reply: says(400, problemOf(400, "invalid_input", { errors: [{ pointer: "/policy", detail: "x" }] })),
    because: "refused",
    isRetried: false,
  },
  "an address that is none": {
    reply: says(400, problemOf(400, "invalid_input", { errors: [{ pointer: "/email", detail: "x" }] })),
    because: "invalid_subject",
    isRetried: false,
  },
  "an address that is too large": {
    reply: says(413, problemOf(413, "payload_too_large")),
    because: "invalid_subject",
    isRetried: false,
  },
  "a code of a later version": { reply: says(422, problemOf(422, "too_new")), because: "refused", isRetried: false },
  "a page that is no JSON": { reply: says(200, "<html>welcome"), because: "malformed", isRetried: true },
  "JSON that is no result": { reply: says(200, '{"ok":true}'), because: "malformed", isRetried: true },
  "a redirection": { reply: says(302, "", { Location: "http://127.0.0.1:1/" }), because: "malformed", isRetried: true },
  "an answer that is cut off": {
    reply: ((_, response) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "500" })
      response.write('{"category":')
      setTimeout(() => response.destroy(), 1)
    }) satisfies FaultReply,
    because: "malformed",
    isRetried: true,
  },
  "a connection that is closed": {
    reply: (request => request.socket.destroy()) satisfies FaultReply,
    because: "unreachable",
    isRetried: true,
  },
} as const satisfies Record<string, { reply: FaultReply; because: string; isRetried: boolean }>

/** A request as it came. */
export type SeenRequest = {
  readonly method: string
  readonly url: string
  readonly id: string
  readonly authorization: string
  readonly body: string
}

/** A server on loopback that replies to each request by the next of these, and by the last to all others. */
export async function faultServer(...replies: readonly FaultReply[]) {
  const seen: SeenRequest[] = []
  const left = [...replies]
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", part => {
      body += part
    })
    request.on("end", () => {
      const { authorization = "", "x-request-id": id } = request.headers
      seen.push({ method: request.method ?? "", url: request.url ?? "", id: String(id), authorization, body })
      const reply = left.length > 1 ? left.shift() : left[0]
      reply?.(request, response, body)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestEnd(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close } // it listens on a port
}
