import type { TextSink } from "../../base/byte-stream.ts"

/** How much text is written at once, in UTF-16 code units. */
const PAGE_LENGTH = 262_144

/** Text that is written in large pieces, one after the other, so that whoever waits for them holds no more than the sink takes. */
export class Pages {
  readonly #sink: TextSink
  #text = ""
  #writing: Promise<void> = Promise.resolve()

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  /** Whether there is enough to be written. */
  get isFull(): boolean {
    return this.#text.length >= PAGE_LENGTH
  }

  /** Takes the next text. */
  add(text: string): void {
    this.#text += text
  }

  /** Resolves when all text so far is written. Rejects with the system's error, and with the same again ever after. */
  flush(): Promise<void> {
    const text = this.#text
    if (text === "") return this.#writing
    this.#text = ""
    this.#writing = this.#writing.then(() => this.#sink.write(text))
    // Whoever flushes next is told; nobody may wait for this one.
    this.#writing.catch(() => undefined)
    return this.#writing
  }

  /** Writes what is left and closes the sink. */
  async close(): Promise<void> {
    try {
      await this.flush()
    } finally {
      await this.#sink.close()
    }
  }
}
