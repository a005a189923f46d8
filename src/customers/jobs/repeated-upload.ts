import { createHash, createHmac } from "node:crypto"

/** An `Idempotency-Key` has so many characters. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255

/** What is stored of an idempotency key, by which its account finds the job again. */
export const uploadKeyOf = (accountId: string, idempotencyKey: string): string =>
  createHash("sha256").update(`${accountId} upload ${idempotencyKey}`).digest("base64url")

/** Tells two uploads apart that have one key. */
export type UploadMark = {
  /** The chunks, each of which is counted in the mark. */
  readonly watch: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, undefined>
  /** The mark of the options and of what was watched. */
  readonly text: () => string
}

/** The mark depends on the key too, so that nobody who reads the store can try out lists. */
export function createUploadMark(idempotencyKey: string, options: unknown): UploadMark {
  const mark = createHmac("sha256", idempotencyKey).update(
    createHash("sha256").update(JSON.stringify(options)).digest(),
  )
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
