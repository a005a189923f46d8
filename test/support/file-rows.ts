import type { InputRow } from "../../src/rows/input-rows.ts"
import { planFile } from "../../src/rows/plan-file.ts"
import type { ReadingOptions, ReadingPlan } from "../../src/rows/reading-plan.ts"
import { type Block, cutBlocks } from "../../src/rows/record-cutter.ts"
import { readBlock } from "../../src/rows/row-reader.ts"

/** Nothing is asked: all is found. */
export const FOUND: ReadingOptions = {
  ...{ format: null, column: null, delimiter: null, hasHeader: true, skippedLines: null, isForced: false },
}

/** The parts of a text, of so many bytes each. */
export async function* partsOf(text: string | Uint8Array, partBytes = 65_536): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
}

/** How a text is read, its blocks, and its rows. Null: it is empty. */
export async function fileRows(
  parts: AsyncIterable<Uint8Array>,
  asked: Partial<ReadingOptions> = {},
): Promise<{
  readonly plan: ReadingPlan
  readonly blocks: readonly Block[]
  readonly rows: readonly InputRow[]
} | null> {
  const planned = await planFile(parts, { ...FOUND, ...asked })
  if (planned === null) return null
  const { plan, text } = planned
  const blocks = (await Array.fromAsync(cutBlocks(text, plan))).filter(block => block !== null)
  return { plan, blocks, rows: blocks.flatMap(({ bytes }, at) => readBlock(bytes, plan, at === 0)) }
}
