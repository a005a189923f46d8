/** What came of one question: served, refused with when to come back, or something that must not be. */
export type Came = "served" | "refused" | "other"

type Cell = Record<Came, number> & { slowestMs: number }

/** What callers of several kinds saw, second by second. */
export class Seconds {
  readonly #kinds: readonly string[]
  readonly #startedAt = performance.now()
  /** What happened in which second, besides. */
  readonly #events = new Map<number, string>()
  readonly #cells: Map<string, Cell>[] = []
  #firstRefusedAt: number | null = null

  constructor(kinds: readonly string[]) {
    this.#kinds = kinds
  }

  /** Notes what came of a question that a caller of this kind asked at `askedAt`, a moment of `performance.now()`. */
  note(kind: string, askedAt: number, came: Came): void {
    const second = this.#secondOf(askedAt)
    if (came === "refused") this.#firstRefusedAt ??= performance.now()
    this.#cells[second] ??= new Map()
    const cell = this.#cells[second].get(kind) ?? { served: 0, refused: 0, other: 0, slowestMs: 0 }
    cell[came]++
    cell.slowestMs = Math.max(cell.slowestMs, performance.now() - askedAt)
    this.#cells[second].set(kind, cell)
  }

  /** Notes that something happens now. */
  mark(event: string): void {
    const second = this.#secondOf(performance.now())
    const before = this.#events.get(second)
    this.#events.set(second, before === undefined ? event : `${before}, ${event}`)
  }

  /** How often that came of the questions of a kind. */
  count(kind: string, came: Came): number {
    return this.#cells.reduce((sum, cells) => sum + (cells?.get(kind)?.[came] ?? 0), 0)
  }

  /** When the first refusal came, as `performance.now()` tells it; null: none did. */
  get firstRefusedAt(): number | null {
    return this.#firstRefusedAt
  }

  /** The longest that a caller of these kinds waited, in milliseconds. */
  slowestMs(kinds: readonly string[]): number {
    const cells = this.#cells.flatMap(ofSecond => kinds.map(kind => ofSecond?.get(kind)?.slowestMs ?? 0))
    return Math.round(Math.max(0, ...cells))
  }

  /** The table: a line a second, and of each kind how many were served and refused (and else), and the slowest in milliseconds. */
  text(): string {
    const rows = [
      ["second", ...this.#kinds, ""],
      ...Array.from({ length: this.#cells.length }, (_, second) => [
        String(second),
        ...this.#kinds.map(kind => textOf(this.#cells[second]?.get(kind))),
        this.#events.get(second) ?? "",
      ]),
    ]
    return textTable(rows)
  }

  #secondOf(at: number): number {
    return Math.floor((at - this.#startedAt) / 1000)
  }
}

/** Rows of cells in columns. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  return rows.map(row => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")).join("\n")
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return "–"
  const { served, refused, other, slowestMs } = cell
  return `${served}+${refused}${other > 0 ? `+${other}!` : ""} ${Math.round(slowestMs)} ms`
}
