/** Options of a request. Aborting the signal ends the request, including the reading of its body. */
export type FetchOptions = { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> }

/**
 * Sends a GET request. Every status is a response, redirects are not followed, and cookies are neither stored nor sent.
 * Rejects if there is no response or the signal is aborted.
 */
export type Fetch = (url: string, options: FetchOptions) => Promise<Response>

/** What a log line tells of a URL: its origin, or the path of a file. The rest may hold credentials. */
export function urlPlace(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return "an invalid address"
  return parsed.protocol === "file:" ? parsed.pathname : `${parsed.protocol}//${parsed.host}`
}

/** Statuses with a `Location` to follow (RFC 9110 §15.4). */
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Whether a response with this status is a redirect. */
export const isRedirect = (status: number): boolean => REDIRECT_STATUSES.has(status)

/** Validators for conditional requests (RFC 9110 §8.8); `null` where the response has none. */
export type CacheValidators = { readonly etag: string | null; readonly lastModified: string | null }

/**
 * Reads the body as UTF-8 text, with U+FFFD for malformed bytes; `null` if it is longer than `bytesMax`, in which case the
 * rest is not read. Rejects if the body breaks off.
 */
export async function readTextBody(response: Response, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytesCount = 0
  for await (const chunk of response.body ?? []) {
    bytesCount += chunk.byteLength
    if (bytesCount > bytesMax) return null // leaving the loop cancels the body
    chunks.push(chunk)
  }
  return UTF8.decode(Buffer.concat(chunks))
}

const UTF8 = new TextDecoder()

/** The name of a status, such as `Not Found`; undefined: it has none. The module is loaded on the first call, because it takes 10 ms. */
export const statusName = (status: number): string | undefined =>
  process.getBuiltinModule("node:http").STATUS_CODES[status]
