import type { Streams } from "../../base/byte-stream.ts"
import type { Outcome } from "../../check/present.ts"
import { CommandFailure, shown } from "../output.ts"
import type { Format } from "./format.ts"
import { KeptResults, leftIn } from "./kept-results.ts"
import { Pages } from "./pages.ts"
import { RESULT_FORMS, type ResultForm } from "./results.ts"
import { type Columns, type Row, subjectOf } from "./row.ts"
import { streamFault } from "./stream-fault.ts"
import { Tally } from "./tally.ts"

/** Where results go: the standard output, or a file, which is new, goes on after what an earlier run has left, or is written over. */
export type Target = { readonly out: string | null; readonly mode: "new" | "resume" | "over" }

/** Throws a `CommandFailure` when results must not go there: nothing is written over that nobody said may be. */
export async function refuseTarget(streams: Streams, input: string, { out, mode }: Target): Promise<void> {
  if (out === null) return
  const [size, isInput] = await writing(out, 0, Promise.all([streams.size(out), streams.isSame(out, input)]))
  if (isInput) throw new CommandFailure("The results cannot be written over their inputs: name another file.", 2)
  if (mode === "new" && size !== null && size > 0) {
    throw new CommandFailure(`${shown(out)} is there already: go on with --resume, or write over it with --force.`)
  }
}

/** Writes results where they go, in the order in which they are given. What an earlier run has left is passed over. */
export class Results {
  readonly #streams: Streams
  readonly #target: Target
  readonly #format: Format
  readonly #testDomain: string
  #form: ResultForm | null = null
  #kept: KeptResults | null = null
  #pages: Pages | null = null
  /** What is counted of this run. */
  readonly tally = new Tally()

  constructor(streams: Streams, target: Target, format: Format, testDomain: string) {
    this.#streams = streams
    this.#target = target
    this.#format = format
    this.#testDomain = testDomain
  }

  /** Whether the columns of the rows are known. */
  get isBegun(): boolean {
    return this.#form !== null
  }

  /** Whether enough is given to be worth a `flush`. */
  get isFull(): boolean {
    return this.#pages?.isFull ?? false
  }

  /** How many results were there before this run. */
  get keptCount(): number {
    return this.#kept?.left.results ?? 0
  }

  /** How many results there are in all. */
  get count(): number {
    return this.keptCount + this.tally.results
  }

  /** Makes ready for rows with these columns. */
  async begin(columns: Columns): Promise<void> {
    const form = RESULT_FORMS[this.#format](columns)
    this.#form = form
    const { out, mode } = this.#target
    if (out === null || mode !== "resume") return await this.#open(0)
    const left = await writing(out, 0, leftIn(this.#streams, out, form, this.#format === "csv"))
    if (left === null) throw notOurs(out)
    this.#kept = new KeptResults(left, form, row => subjectOf(row, this.#testDomain))
  }

  /** The rows of these that have no result yet. Only when there is one, and all that is there is known, the file is touched. */
  async rest(rows: readonly Row[]): Promise<readonly Row[]> {
    if (this.#pages !== null || this.#kept === null) return rows
    const rest = this.#kept.rest(rows)
    if (rest === null) throw notOurs(this.#target.out ?? "")
    if (rest.length > 0) await this.#open(this.#kept.left.bytes)
    return rest
  }

  /** Takes the next result. */
  readonly give = (row: Row, outcome: Outcome): void => {
    this.tally.count(outcome)
    if (this.#form !== null) this.#pages?.add(this.#form.text(row, outcome, this.count))
  }

  /** Resolves when all that was given is written. */
  async flush(): Promise<void> {
    if (this.#pages !== null) await this.#writing(this.#pages.flush())
  }

  /** There are no more rows. */
  async end(): Promise<void> {
    if (this.#kept !== null && !this.#kept.isAllKnown) throw notOurs(this.#target.out ?? "")
    if (this.#pages === null) await this.#open(this.#kept?.left.bytes ?? 0)
  }

  /** Writes what was given, in whole results, and closes the file. */
  async close(): Promise<void> {
    if (this.#pages !== null) await this.#writing(this.#pages.close())
  }

  async #open(keptBytes: number): Promise<void> {
    const { out } = this.#target
    const sink = out === null ? this.#streams.stdout : await this.#writing(this.#streams.sink(out, keptBytes))
    this.#pages = new Pages(sink)
    if (keptBytes === 0) this.#pages.add(this.#form?.head ?? "")
  }

  #writing<T>(work: Promise<T>): Promise<T> {
    return writing(this.#target.out, this.count, work)
  }
}

const notOurs = (out: string): CommandFailure =>
  new CommandFailure(
    `${shown(out)} does not hold results of these inputs in this format, so there is nothing to go on with. It was left as it is.`,
  )

/** Tells a fault of the system in words, and how to go on. */
async function writing<T>(out: string | null, count: number, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const says = streamFault(error)
    if (says === null) throw error
    const name = out === null ? "the standard output" : shown(out)
    const onward = out !== null && count > 0 ? " Go on with the same command and --resume once that is mended." : ""
    throw new CommandFailure(`Cannot write ${name}: ${says}.${onward}`)
  }
}
