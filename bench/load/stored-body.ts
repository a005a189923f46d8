/** Collects the content of one answer from its parts. */
export class StoredBody {
  readonly #bytesMax: number
  readonly #parts: Uint8Array[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Takes the next part, which may be overwritten afterwards. What is too long is let go. */
  add(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes <= this.#bytesMax) this.#parts.push(part.slice())
  }

  /** All of it; null when it is too long. */
  text(): string | null {
    return this.#bytes > this.#bytesMax ? null : Buffer.concat(this.#parts).toString("utf8")
  }
}
