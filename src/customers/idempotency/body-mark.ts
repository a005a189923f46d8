import { createHash, createHmac } from "node:crypto"

/** What is stored of an idempotency key, by which its account finds the answer again. */
export const idempotencyKeyHash = (accountId: string, key: string): string =>
  createHash("sha256").update(`${accountId} ${key}`).digest("base64url")

/** Tells two requests apart that have one key. */
export type BodyMark = {
  /** Gives the chunks of a body as they come, and adds each to the mark. */
  readonly watch: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, undefined>
  /** The mark of the request and of what was watched. */
  readonly text: () => string
}

/** `request`: the route, and what of the request is no chunk. The mark depends on the key too. */
export function createBodyMark(key: string, request: unknown): BodyMark {
  const mark = createHmac("sha256", key).update(createHash("sha256").update(JSON.stringify(request)).digest())
  return {
    watch: async function* (chunks): AsyncGenerator<Uint8Array, undefined> {
      for await (const chunk of chunks) {
        mark.update(chunk)
        yield chunk
      }
      return undefined
    },
    text: () => mark.digest("base64"),
  }
}
