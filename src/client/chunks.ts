/** Limits of the API. */
export const API_LIMITS = { batchItemsMax: 100, batchItemLengthMax: 2048, batchBodyBytesMax: 262_144 } as const

/** An item with its place among all items. */
export type PlacedItem = { readonly index: number; readonly item: string }

/** Items that are sent in one request. `isSent`: whether the API takes them. An item that it never takes stands alone. */
export type Chunk = { readonly items: readonly PlacedItem[]; readonly isSent: boolean }

/** Room for the other members of a body. */
const FRAME_BYTES = 256

const encoder = new TextEncoder()

/** Lengths count characters, each of which is one or two units of a string. */
const isTooLong = (text: string): boolean =>
  text.length > 2 * API_LIMITS.batchItemLengthMax || [...text].length > API_LIMITS.batchItemLengthMax

/** Splits items, as they come, into chunks of as many items and bytes as a request may have, in order. */
export async function* chunksOf(items: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Chunk, void> {
  let [open, bytes, index]: [PlacedItem[], number, number] = [[], 0, 0]
  for await (const item of items) {
    const placed = { index: index++, item }
    if (typeof item !== "string" || isTooLong(item.trim())) {
      if (open.length > 0) yield { items: open, isSent: true }
      ;[open, bytes] = [[], 0]
      yield { items: [placed], isSent: false }
      continue
    }
    const size = encoder.encode(JSON.stringify(item)).length + 1
    if (open.length === API_LIMITS.batchItemsMax || bytes + size + FRAME_BYTES > API_LIMITS.batchBodyBytesMax) {
      yield { items: open, isSent: true }
      ;[open, bytes] = [[], 0]
    }
    open.push(placed)
    bytes += size
  }
  if (open.length > 0) yield { items: open, isSent: true }
}
