import { SUBJECT_KINDS } from "../../check/address/subject.ts"
import { CommandFailure, shown } from "../output.ts"
import { type CsvRecord, CsvRecords } from "./csv-records.ts"
import { type Columns, INPUT_ALONE, type Line, type Row, type RowReader } from "./row.ts"

/**
 * Reads the rows of a CSV file under its header. The input is in the column that `wanted` names, else in `email`, `domain`
 * or `url`, the first that there is, else in the only one; case does not matter. A file of one column whose first line is
 * an input has no header. Throws a `CommandFailure` when no column can be told; it names none, since a file without
 * header has somebody's address there.
 */
export class CsvRows implements RowReader {
  readonly #wanted: string | null
  readonly #records = new CsvRecords()
  #columns: Columns | null = null
  #inputAt = 0

  constructor(wanted: string | null) {
    this.#wanted = wanted
  }

  readonly columns = (): Columns | null => this.#columns

  readonly take = (line: Line, rows: Row[]): void => {
    const records: CsvRecord[] = []
    this.#records.take(line, records)
    for (const record of records) this.#row(record, rows)
  }

  readonly end = (rows: Row[]): void => {
    const records: CsvRecord[] = []
    this.#records.end(records)
    for (const record of records) this.#row(record, rows)
  }

  #row(record: CsvRecord, rows: Row[]): void {
    if (this.#columns === null) this.#readHeader(record, rows)
    else rows.push(this.#rowOf(record, this.#columns))
  }

  #readHeader(record: CsvRecord, rows: Row[]): void {
    const { cells, fault } = record
    if (fault !== null) throw new CommandFailure("The header of the CSV file is broken.")
    const [only] = cells
    if (this.#wanted === null && cells.length === 1 && only !== undefined && INPUT_LIKE.test(only)) {
      this.#columns = INPUT_ALONE
      rows.push(this.#rowOf(record, this.#columns))
      return
    }
    this.#columns = { names: cells, delimiter: this.#records.delimiter }
    this.#inputAt = inputColumn(cells, this.#wanted)
  }

  #rowOf({ cells, fault }: CsvRecord, { names }: Columns): Row {
    const all = cells.length >= names.length ? cells : [...cells, ...Array(names.length - cells.length).fill("")]
    return { input: all[this.#inputAt] ?? "", kind: null, fault, cells: all }
  }
}

/** No column is called so, and every input that is anybody's is. */
const INPUT_LIKE = /[@.]/

/** Where the column is that has the inputs. Throws when that cannot be told. */
function inputColumn(names: readonly string[], wanted: string | null): number {
  if (wanted === null && names.length === 1) return 0
  for (const name of wanted === null ? SUBJECT_KINDS : [wanted]) {
    const exact = names.indexOf(name)
    const at = exact >= 0 ? exact : names.findIndex(other => plain(other) === plain(name))
    if (at >= 0) return at
  }
  if (wanted !== null) throw new CommandFailure(`The file has no column \`${shown(wanted)}\`.`, 2)
  throw new CommandFailure("The file has no column `email`, `domain` or `url`: name the one to check with --column.", 2)
}

const plain = (name: string): string => name.trim().toLowerCase()
