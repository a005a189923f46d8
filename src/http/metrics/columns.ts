import { COLUMN_CELLS, GAUGE_CELLS } from "./layout.ts"

/*
 * The memory that workers share begins with what they count, so that any of them, and the supervisor, can tell of all:
 *
 *     | seats, float64 | column of seat 0 | column of seat 1 | … | the rest, which is others' |
 */
const HEADER_CELLS = 1
const CELL_BYTES = Float64Array.BYTES_PER_ELEMENT

/** Columns in memory, and what of it is left. */
export type Shared = { readonly columns: readonly Float64Array[]; readonly rest: Uint8Array }

/** The column of a process that serves alone. */
export const ownColumn = (): Float64Array => new Float64Array(COLUMN_CELLS)

/** Memory with a column for each of `seats` workers in front of `rest`, which is a multiple of eight bytes. */
export function withColumns(seats: number, rest: Uint8Array): Uint8Array<ArrayBuffer> {
  const cells = HEADER_CELLS + seats * COLUMN_CELLS
  const memory = new Uint8Array(cells * CELL_BYTES + rest.length)
  new Float64Array(memory.buffer, 0, 1)[0] = seats
  memory.set(rest, cells * CELL_BYTES)
  return memory
}

/** The columns of such memory, and the rest, in place. */
export function columnsIn(memory: Uint8Array): Shared {
  const { buffer, byteOffset } = memory
  const [seats = 0] = new Float64Array(buffer, byteOffset, 1)
  const at = (seat: number): number => byteOffset + (HEADER_CELLS + seat * COLUMN_CELLS) * CELL_BYTES
  return {
    columns: Array.from({ length: seats }, (_, seat) => new Float64Array(buffer, at(seat), COLUMN_CELLS)),
    rest: memory.subarray(at(seats) - byteOffset),
  }
}

/** Forgets what a process that is gone has held; what it has counted is kept. */
export function clearGauges(column: Float64Array | undefined): void {
  if (column !== undefined) for (const cell of GAUGE_CELLS) column[cell] = 0
}
