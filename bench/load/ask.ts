import type { Socket } from "bun"
import { AnswerReader } from "./answer-reader.ts"
import { endpointOf, type Request, requestBytes } from "./request-bytes.ts"

/** One answer, read to its end. */
export type HttpAnswer = { readonly status: number; readonly body: string }

const ANSWER_TIMEOUT_MS = 10_000

/**
 * Sends one request over a connection of its own and gives the answer. Rejects when there is no connection, when the
 * answer is none that `AnswerReader` knows, and after ten seconds.
 */
export async function sendRequest(request: Request): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const reader = new AnswerReader("all")
  const timer = setTimeout(() => reject(new Error("no answer came in time")), ANSWER_TIMEOUT_MS)
  const { hostname, port, tls } = endpointOf(request.url)
  const socket = await Bun.connect({
    hostname,
    port,
    tls: tls ?? false,
    socket: {
      data: (_: Socket, chunk: Buffer) => {
        const progress = reader.take(chunk)
        if (progress === "whole") resolve({ status: reader.status, body: reader.body ?? "" })
        if (progress === "unreadable") reject(new Error("the answer is not HTTP/1.1 with a Content-Length or chunks"))
      },
      close: () => reject(new Error("the connection closed before the answer's end")),
    },
  }).catch((refusal: unknown) => {
    clearTimeout(timer)
    throw refusal
  })
  try {
    const bytes = requestBytes(request)
    if (socket.write(bytes) !== bytes.length) throw new Error("a request larger than the socket's buffer")
    return await promise
  } finally {
    clearTimeout(timer)
    socket.terminate()
  }
}
