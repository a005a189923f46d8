/** How a page is asked for. Aborting the signal ends the request, the reading of its body included. */
export type FetchOptions = { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> }

/**
 * Asks the web for one URL by GET. Any status is a response; a redirect comes back as it is, and no cookie is kept or
 * sent. It rejects when nobody answers, or when the signal is aborted.
 */
export type Fetch = (url: string, options: FetchOptions) => Promise<Response>

/** The statuses that say where to ask instead (RFC 9110 §15.4). */
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Whether an answer of this status says where to ask instead. */
export const isRedirect = (status: number): boolean => REDIRECT_STATUSES.has(status)

/** What a server said of the copy that it gave, to ask it for a newer one only; null: it said nothing of use. */
export type CacheValidators = { readonly etag: string | null; readonly lastModified: string | null }

/**
 * The body of a response as UTF-8 text, U+FFFD for what is none; null when it is longer than `bytesMax`, and no more of it
 * is read then. It rejects when the body breaks off.
 */
export async function readTextBody(response: Response, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let count = 0
  for await (const chunk of response.body ?? []) {
    count += chunk.byteLength
    if (count > bytesMax) return null // leaving the loop cancels the body
    chunks.push(chunk)
  }
  return UTF8.decode(Buffer.concat(chunks))
}

const UTF8 = new TextDecoder()
