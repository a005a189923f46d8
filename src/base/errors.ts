/** Says that we are wrong, not the caller: an error whose sentence is logged and never sent. */
export class InvariantError extends Error {
  override readonly name = "Broken"
}

/** Throws `Broken` with the sentence unless the condition holds. For promises between our own parts only. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new InvariantError(sentence)
}

/** What a fault of the system is called, such as `ECONNRESET`; its message may repeat a path or a URL. */
export const errorCode = (fault: unknown): string =>
  fault instanceof Error ? ("code" in fault && typeof fault.code === "string" ? fault.code : fault.name) : "no error"
