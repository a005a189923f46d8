import type { Request } from "./request-bytes.ts"

/** One answer, read to its end. */
export type HttpAnswer = { readonly status: number; readonly body: string }

const ANSWER_TIMEOUT_MS = 10_000

/** Sends one request over a connection of its own and gives the answer. Rejects when no whole answer comes, and after ten seconds. */
export async function sendRequest({ method, url, headers, body }: Request): Promise<HttpAnswer> {
  const response = await Bun.fetch(url, {
    method,
    headers: { ...headers },
    body: body === "" ? null : body,
    keepalive: false,
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  })
  return { status: response.status, body: await response.text() }
}
