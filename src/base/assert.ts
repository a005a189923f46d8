/** Says that we are wrong, not the caller: an error whose sentence is logged and never sent. */
export class Broken extends Error {
  override readonly name = "Broken"
}

/** Throws `Broken` with the sentence unless the condition holds. For promises between our own parts only. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Broken(sentence)
}
