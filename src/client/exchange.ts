import { onAbort } from "./abort.ts"
import { bodyLimitMessage, causeOf, failureMessage, readProblem } from "./answers.ts"
import { ANSWER_BYTES_MAX } from "./options.ts"
import type { Cause, Failure } from "./outcome.ts"
import type { ClientPlatform } from "./platform.ts"
import { readRetryAfter } from "./retry.ts"

/** What a request may send. A stream is sent as it comes. */
export type RequestBody = string | Uint8Array | Blob | ReadableStream<Uint8Array>

/** One request as it is sent. */
export type WireRequest<R> = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: GET without a body, else POST. */
  readonly method?: "DELETE" | "PUT" | undefined
  readonly body: RequestBody | null
  /** Absent: JSON. */
  readonly contentType?: string | undefined
  /** Absent: none is sent. */
  readonly idempotencyKey?: string | undefined
  readonly requestId: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Whether a body of status 200 or 202 is the answer, or null, that of status 204. */
  readonly isAnswer: (value: unknown) => value is R
}

/** How one try ends. `maxAgeMs`: how long the answer may be kept. */
export type TryEnd<R> =
  | { readonly kind: "answer"; readonly value: R; readonly maxAgeMs: number }
  | { readonly kind: "failure"; readonly failure: Failure }

/** Sends a request once. It ends within `timeoutMs`, whatever the server does, and never throws. */
export async function exchange<R>(platform: ClientPlatform, request: WireRequest<R>): Promise<TryEnd<R>> {
  if (request.signal?.aborted === true) return failed(request, "aborted")
  const controller = new AbortController()
  let tidy = (): void => undefined
  // `fetch` of a runtime or of the caller may not obey the signal at once.
  const stopped = new Promise<TryEnd<R>>(resolve => {
    const end = (because: Cause): void => {
      resolve(failed(request, because))
      controller.abort()
    }
    const unlisten = onAbort(request.signal, () => end("aborted"))
    const cancel = platform.after(request.timeoutMs, () => end("timeout"))
    tidy = () => {
      cancel()
      unlisten()
    }
  })
  try {
    return await Promise.race([stopped, sent(platform, request, controller.signal)])
  } finally {
    tidy()
  }
}

async function sent<R>(platform: ClientPlatform, request: WireRequest<R>, signal: AbortSignal): Promise<TryEnd<R>> {
  const { url, headers, body, requestId, idempotencyKey, method, contentType = "application/json" } = request
  let response: Response
  try {
    response = await platform.fetch(url, {
      method: method ?? (body === null ? "GET" : "POST"),
      headers: {
        ...headers,
        "X-Request-Id": requestId,
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
        ...(body === null ? {} : { "Content-Type": contentType }),
      },
      ...(body === null ? {} : { body: body as BodyInit }), // the types of a runtime may be narrower than `fetch`
      // `fetch` wants this beside a stream.
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
      // The key is for this server alone.
      redirect: "manual",
      // Some runtimes without cookies refuse the member.
      ...(platform.isPage() ? { credentials: "omit" } : {}),
      signal,
    })
  } catch {
    // The error of a runtime may hold the headers or the URL, so nothing of it is passed on.
    return failed(request, "unreachable")
  }
  return read(request, response, response.status === 204 ? null : await jsonOf(response))
}

function read<R>(request: WireRequest<R>, response: Response, value: unknown): TryEnd<R> {
  const { status, headers } = response
  if (status === 200 || status === 202 || status === 204) {
    if (!request.isAnswer(value)) return failed(request, "malformed", { status })
    return { kind: "answer", value, maxAgeMs: maxAgeMs(headers.get("Cache-Control")) }
  }
  return refused(request, response, value)
}

/** What a response without an answer says; `value` is its body. */
export function refused(
  request: { readonly requestId: string },
  { status, headers }: Response,
  value: unknown,
): Extract<TryEnd<never>, { readonly kind: "failure" }> {
  const problem = readProblem(value)
  const retryAfterMs = readRetryAfter(headers.get("Retry-After"), headers.get("Date"))
  const limit = bodyLimitMessage(status, problem, headers.get("Server"))
  return failed(request, causeOf(status, problem), {
    status,
    ...(limit === null ? {} : { message: limit }),
    ...(problem === undefined ? {} : { problem }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** The JSON of a body of at most `ANSWER_BYTES_MAX`; undefined: it is none, is longer or is cut off. */
export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await textOf(response))
  } catch {
    return undefined
  }
}

/** A failure of the request with the id. */
export function failed(
  { requestId }: { readonly requestId: string },
  because: Cause,
  known: Partial<Failure> = {},
): Extract<TryEnd<never>, { readonly kind: "failure" }> {
  const message = failureMessage(because, known.problem, known.status)
  return { kind: "failure", failure: { because, message, ...known, requestId } }
}

/** The text of a body of at most `ANSWER_BYTES_MAX`. Throws if it is longer or is cut off. */
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ""
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let [text, bytes] = ["", 0]
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length
    if (bytes > ANSWER_BYTES_MAX) {
      void reader.cancel().catch(() => undefined)
      throw new RangeError("the answer is too long")
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}

/** How long a cache of this program may keep an answer (RFC 9111). 0: not at all. */
function maxAgeMs(cacheControl: string | null): number {
  const said = cacheControl?.toLowerCase() ?? ""
  if (/\bno-(?:store|cache)\b/.test(said)) return 0
  return Number(/(?:^|[\s,])max-age="?(\d{1,9})/.exec(said)?.[1] ?? 0) * 1000
}
