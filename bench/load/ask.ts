import type { Socket } from "bun"
import { AnswerReader } from "./answer-reader.ts"
import { endpointOf, type Request, requestBytes } from "./request-bytes.ts"

/** One answer, read to its end. */
export type Answer = { readonly status: number; readonly body: string }

const ANSWER_TIMEOUT_MS = 10_000

/**
 * Sends one request over a connection of its own and gives the answer. Rejects when there is no connection, when the
 * answer is none that `AnswerReader` knows, and after ten seconds.
 */
export async function ask(request: Request): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const reader = new AnswerReader()
  const chunks: Uint8Array[] = []
  const timer = setTimeout(() => reject(new Error("no answer came in time")), ANSWER_TIMEOUT_MS)
  const socket = await Bun.connect({
    ...endpointOf(request.url),
    socket: {
      data: (_: Socket, chunk: Buffer) => {
        chunks.push(new Uint8Array(chunk))
        const progress = reader.take(chunk)
        if (progress === "whole") resolve({ status: reader.status, body: lastOf(chunks, reader.bodyBytes) })
        if (progress === "unreadable") reject(new Error("the answer is not HTTP/1.1 with a Content-Length"))
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

const lastOf = (chunks: readonly Uint8Array[], count: number): string => {
  const bytes = Buffer.concat(chunks)
  return bytes.toString("utf8", bytes.length - count)
}
