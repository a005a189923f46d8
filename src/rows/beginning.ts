const BYTE_ORDER_MARK = Buffer.from("\ufeff")
/** How many bytes a byte order mark has in UTF-8. */
export const MARK_BYTES = BYTE_ORDER_MARK.length

/** Whether a text in UTF-8 begins with a byte order mark. */
export const hasByteOrderMark = (text: Uint8Array): boolean => BYTE_ORDER_MARK.every((byte, at) => text[at] === byte)

/** The text without a byte order mark at its beginning. */
export const withoutMark = (text: Uint8Array): Uint8Array => (hasByteOrderMark(text) ? text.subarray(MARK_BYTES) : text)

/** Joins the first chunks until `isEnough`, or all of them. The other chunks stay as they are. */
export async function* withBeginning(
  parts: AsyncIterable<Uint8Array>,
  isEnough: (beginning: Uint8Array) => boolean,
): AsyncGenerator<Uint8Array, undefined> {
  let beginning: Uint8Array | null = new Uint8Array()
  for await (const part of parts) {
    if (beginning === null) {
      yield part
      continue
    }
    // The first chunk is mostly enough, and is not copied then.
    beginning = beginning.length === 0 && isEnough(part) ? part : Buffer.concat([beginning, part])
    if (!isEnough(beginning)) continue
    yield beginning
    beginning = null
  }
  if (beginning !== null && beginning.length > 0) yield beginning
}

/** The first chunk of an iteration and those after it; null: there is none. */
export async function splitFirst(parts: AsyncIterable<Uint8Array>) {
  const all = parts[Symbol.asyncIterator]()
  const first = await all.next()
  if (first.done === true) return null
  /** All chunks, with this one as the first. */
  async function* wholeFrom(beginning: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
    try {
      yield beginning
      for (let next = await all.next(); next.done !== true; next = await all.next()) yield next.value
    } finally {
      await all.return?.(undefined)
    }
  }
  return { first: first.value as Uint8Array, wholeFrom }
}
