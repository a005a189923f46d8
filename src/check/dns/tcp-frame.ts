/** How many octets the length takes that stands before a message on a connection (RFC 7766 §8). */
const PREFIX_BYTES = 2

/** The message behind its length (RFC 7766 §8), in one piece: some servers want both in one segment. */
export function framed(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(PREFIX_BYTES + message.length)
  frame.set([message.length >> 8, message.length & 0xff])
  frame.set(message, PREFIX_BYTES)
  return frame
}

/**
 * Takes a message in any number of pieces and gives it when it is whole; null until then. It holds no more than the length
 * before it says, at most 65 535 octets; what follows the message is left.
 */
export function messageGatherer(): (chunk: Uint8Array) => Uint8Array | null {
  const prefix: number[] = []
  let message: Uint8Array | null = null
  let filled = 0
  return chunk => {
    let at = 0
    for (; at < chunk.length && prefix.length < PREFIX_BYTES; at++) prefix.push(chunk[at] ?? 0)
    const [high, low] = prefix
    if (high === undefined || low === undefined) return null
    message ??= new Uint8Array((high << 8) | low)
    const part = chunk.subarray(at, at + message.length - filled)
    message.set(part, filled)
    filled += part.length
    return filled === message.length ? message : null
  }
}
