import { jsonIn } from "../../base/json.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../../check/address/subject.ts"
import { INPUT_ALONE, type Line, type Row, type RowReader } from "./row.ts"
import { textRow } from "./text-rows.ts"

/**
 * Reads one JSON text a line: an object with the member `email`, `domain` or `url`, of which the first counts, or with the
 * member that `column` names; or a string. A line that begins as neither is an input as it stands. A line that is broken,
 * or has no such member, is an input that is not looked into.
 */
export function ndjsonRows(column: string | null): RowReader {
  return {
    columns: () => INPUT_ALONE,
    take: (line, rows) => void rows.push(rowOf(line, column)),
    end: () => undefined,
  }
}

/** How a JSON text begins that could hold an input. */
const JSON_BEGINS = /^[\t\r ]*[{["]/

function rowOf(line: Line, column: string | null): Row {
  if (line.isTooLong || !JSON_BEGINS.test(line.text)) return textRow(line)
  const value = jsonIn(line.text)
  if (typeof value === "string") return read(value, null)
  if (typeof value !== "object" || value === null) return broken(line)
  const members = new Map<string, unknown>(Object.entries(value))
  const names = column === null ? SUBJECT_KINDS : [column]
  const name = names.find(name => typeof members.get(name) === "string")
  const input = name === undefined ? undefined : members.get(name)
  return typeof input === "string" ? read(input, SUBJECT_KINDS.find(kind => kind === name) ?? null) : broken(line)
}

const read = (input: string, kind: SubjectKind | null): Row => ({ input, kind, fault: null, cells: null })

/** It is shown as a domain, so that nothing of a line that nobody can read is taken for an address. */
const broken = ({ text }: Line): Row => ({ input: text, kind: "domain", fault: "invalid_syntax", cells: null })
