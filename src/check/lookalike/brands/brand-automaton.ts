import { assert } from "../../../base/errors.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { type FoldedText, foldedUnit, foldText, isFoldedPair } from "../confusables.ts"

/** Letters and digits as they are folded, each with its number; 0 is anything else. */
const SYMBOL_BITS = 5
const SYMBOLS = Uint8Array.from({ length: 128 }, (_, unit) => {
  const at = "abcdefghjklmnopqrstuvwxyz269".indexOf(String.fromCharCode(unit))
  return at + 1
})

/** The number of each letter and digit as it is typed. */
const SYMBOLS_AS_TYPED = SYMBOLS.map((_, unit) => SYMBOLS[foldedUnit(unit)] ?? 0)
const HYPHEN = "-".charCodeAt(0)

/** A place where a text looks like a label: the index of the label, and where it starts and ends in the text. */
export type LabelHit = { readonly index: number; readonly start: number; readonly end: number }

const NO_HITS: readonly LabelHit[] = []
const folded: FoldedText = {
  units: new Uint8Array(LIMITS.labelBytesMax),
  starts: new Uint8Array(LIMITS.labelBytesMax),
  ends: new Uint8Array(LIMITS.labelBytesMax),
  length: 0,
  hasPairs: false,
}

/**
 * Finds all labels that a text contains, by look and over hyphens, in one pass (Aho and Corasick 1975): one array access for each
 * letter, however many labels there are.
 */
export class LabelAutomaton {
  /** By state and symbol: the next state. */
  #next = new Uint16Array(0)
  /** By state: 1 if a label ends here. */
  #isEnd = new Uint8Array(0)
  /** By state: one more than the index of the label that ends here; 0: none. */
  readonly #ends: number[] = [0]
  /** By state: the folded length of the label that ends here. */
  readonly #lengths: number[] = [0]
  /** By state: the next shorter state in which a label ends; 0: none. */
  readonly #shorter: number[] = [0]

  constructor(labels: readonly string[]) {
    const children: Uint16Array[] = [new Uint16Array(1 << SYMBOL_BITS)]
    for (const [index, label] of labels.entries()) {
      for (const withPairs of [false, true]) {
        foldText(label, withPairs, folded)
        if (!withPairs || folded.hasPairs) this.#add(children, index)
      }
    }
    this.#link(children)
  }

  #add(children: Uint16Array[], index: number): void {
    let state = 0
    for (let at = 0; at < folded.length; at++) {
      const row = children[state]
      const symbol = SYMBOLS[folded.units[at] ?? 0] ?? 0
      assert(row !== undefined && symbol !== 0, "a label has letters and digits")
      if (row[symbol] === 0) {
        row[symbol] = children.length
        children.push(new Uint16Array(1 << SYMBOL_BITS))
        this.#ends.push(0)
        this.#lengths.push(0)
        this.#shorter.push(0)
      }
      state = row[symbol] ?? 0
    }
    assert(children.length < 0xffff, "a state has 16 bits")
    if (this.#ends[state] !== 0) return
    this.#ends[state] = index + 1
    this.#lengths[state] = folded.length
  }

  /** Gives each state a next state for each symbol: its child, or else that of its longest suffix. */
  #link(children: readonly Uint16Array[]): void {
    this.#next = new Uint16Array(children.length << SYMBOL_BITS)
    this.#isEnd = new Uint8Array(children.length)
    for (const [state, row] of children.entries()) this.#next.set(row, state << SYMBOL_BITS)
    const suffixes = new Uint16Array(children.length)
    // From the root outwards, so that all next states of a suffix, which is shorter, are there.
    const queue = [0]
    for (const state of queue) {
      const suffix = suffixes[state] ?? 0
      this.#shorter[state] = this.#ends[suffix] === 0 ? (this.#shorter[suffix] ?? 0) : suffix
      this.#isEnd[state] = this.#ends[state] === 0 && this.#shorter[state] === 0 ? 0 : 1
      for (const child of this.#linkState(state, suffix, suffixes)) queue.push(child)
    }
  }

  /** Gives one state its next states, and its children, which are returned, their suffixes. */
  #linkState(state: number, suffix: number, suffixes: Uint16Array): readonly number[] {
    const linked: number[] = []
    for (let symbol = 1; symbol < 1 << SYMBOL_BITS; symbol++) {
      const other = state === 0 ? 0 : this.#after(suffix, symbol)
      const child = this.#after(state, symbol)
      if (child === 0) this.#next[(state << SYMBOL_BITS) | symbol] = other
      else {
        suffixes[child] = other
        linked.push(child)
      }
    }
    return linked
  }

  /** False: the text holds no label. This is so of most texts, which cost one access for each letter and no more. */
  #mayHit(text: string): boolean {
    let state = 0
    let previous = 0
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code === HYPHEN) continue
      state = this.#next[(state << SYMBOL_BITS) | (SYMBOLS_AS_TYPED[code] ?? 0)] ?? 0
      if (this.#isEnd[state] === 1 || isFoldedPair(previous, code)) return true
      previous = code
    }
    return false
  }

  #after(state: number, symbol: number): number {
    return this.#next[(state << SYMBOL_BITS) | symbol] ?? 0
  }

  /** Where the text, at most as long as a label of a domain, contains a label or looks like one; nearly always nowhere. */
  hits(text: string): readonly LabelHit[] {
    if (!this.#mayHit(text)) return NO_HITS
    foldText(text, false, folded)
    const hits = this.#scan(NO_HITS)
    if (!folded.hasPairs) return hits
    foldText(text, true, folded)
    return this.#scan(hits)
  }

  #scan(before: readonly LabelHit[]): readonly LabelHit[] {
    let hits = before
    let state = 0
    for (let at = 0; at < folded.length; at++) {
      state = this.#after(state, SYMBOLS[folded.units[at] ?? 0] ?? 0)
      for (let end = this.#ends[state] === 0 ? (this.#shorter[state] ?? 0) : state; end !== 0; ) {
        const start = folded.starts[at + 1 - (this.#lengths[end] ?? 0)] ?? 0
        hits = [...hits, { index: (this.#ends[end] ?? 0) - 1, start, end: folded.ends[at] ?? 0 }]
        end = this.#shorter[end] ?? 0
      }
    }
    return hits
  }
}
