import type { Dice } from "../../fuzz/dice.ts"
import { costMs } from "./costs.ts"
import { framed, type Reader, repeated } from "./reader.ts"

/** How the text of a case grows with its size. */
export type Grower = { readonly description: string; readonly textOf: (length: number) => string }

const grown = (description: string, textOf: (length: number) => string): Grower => ({ description, textOf })

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** One text again and again. */
const repetition = (unit: string): Grower => grown(`${shown(unit)} again and again`, length => repeated(unit, length))

/** The first half of one, the second of another: many that open, and then many that close. */
const halves = (first: string, second: string): Grower =>
  grown(
    `${shown(first)} and then ${shown(second)} again and again`,
    length => `${repeated(first, length / 2)}${repeated(second, length / 2)}`,
  )

/** A long run, and an end that it does not expect. */
const ending = (unit: string, end: string): Grower =>
  grown(`${shown(unit)} again and again, and at the end ${shown(end)}`, length => repeated(unit, length) + end)

const beginning = (start: string, unit: string): Grower =>
  grown(`${shown(start)}, and then ${shown(unit)} again and again`, length => start + repeated(unit, length))

/** Names that differ: a table of them grows. */
const numbered = (before: string, after: string): Grower =>
  grown(`numbers between ${shown(before)} and ${shown(after)}`, length => {
    const parts: string[] = []
    for (let at = 0, count = 0; count < length; at++) {
      const part = `${before}${at}${after}`
      parts.push(part)
      count += part.length
    }
    return parts.join("")
  })

/** Every text of up to so many tokens, again and again. */
export function* repetitions(tokens: readonly string[], tokensMax: number): Generator<Grower> {
  const texts = function* (left: number): Generator<string> {
    for (const token of tokens) {
      yield token
      if (left > 1) for (const rest of texts(left - 1)) yield token + rest
    }
  }
  for (const unit of texts(tokensMax)) yield repetition(unit)
}

/** Pairs of tokens in every shape. */
export function* shapes(tokens: readonly string[]): Generator<Grower> {
  for (const one of tokens)
    for (const other of tokens) {
      if (one === other) continue
      yield halves(one, other)
      yield ending(one, other)
      yield beginning(other, one)
      yield numbered(one, other)
    }
}

/** Texts of tokens by chance, some of them many times, in every shape, without an end. */
export function* soups(dice: Dice, tokens: readonly string[]): Generator<Grower> {
  const token = (): string => tokens[dice.below(tokens.length)] ?? ""
  const some = (): string =>
    dice.times(1 + dice.below(6), () => repeated(token(), token().length + dice.below(dice.once(3) ? 200 : 4))).join("")
  for (;;) {
    const kind = dice.below(5)
    if (kind === 0) yield halves(some(), some())
    else if (kind === 1) yield ending(some(), some())
    else if (kind === 2) yield beginning(some(), some())
    else if (kind === 3) yield numbered(some(), some())
    else yield repetition(some())
  }
}

/** Costs below this are noise. */
const COST_MS_MIN = 0.02

/** What the text of a grower costs a byte, in milliseconds. */
export type Case = { readonly grower: Grower; readonly cost: number }

/** The most expensive of some growers at a size, by their cost a byte, the costliest first. */
export async function costliest(
  reader: Reader,
  growers: Iterable<Grower>,
  length: number,
  count: number,
): Promise<readonly Case[]> {
  let found: Case[] = []
  const best = () => found.toSorted((one, other) => other.cost - one.cost).slice(0, count)
  for (const grower of growers) {
    const bytes = framed(reader, grower.textOf(length))
    const ms = await costMs(reader, bytes)
    if (ms < COST_MS_MIN) continue
    found.push({ grower, cost: ms / bytes.length })
    if (found.length >= 4 * count) found = best()
  }
  return best()
}
