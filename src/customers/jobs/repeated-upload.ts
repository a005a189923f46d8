import { createHash, createHmac } from "node:crypto"
import { deterministicBytes, newId } from "../store/core/id.ts"

/** An `Idempotency-Key` has so many characters. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255

/** The id of the job that an account makes with an idempotency key. The key itself is not stored. */
export const repeatedJobId = (accountId: string, idempotencyKey: string): string =>
  newId("job", deterministicBytes(`${accountId} upload ${idempotencyKey}`))

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
