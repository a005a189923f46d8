import { holdsAddress } from "../base/address-redaction.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../check/address/subject.ts"
import type { ReadingPlan } from "./reading-plan.ts"
import { type OptionNames, UnreadableFile } from "./unreadable-file.ts"

/** Column names have neither character, addresses, domains and URLs do. */
export const INPUT_PATTERN = /[@.]/

/** Names of columns for each kind of input, without spaces and punctuation. A column whose name ends like the first is one too. */
const COLUMN_NAMES: Readonly<Record<SubjectKind, RegExp>> = {
  email: /(?:^mail|e?mailaddress|e?mailadresse|email|emailid|email\d*value|correoelectr[oó]nico|courriel)$/u,
  domain: /(?:domain|domainname|hostname)$/u,
  url: /(?:url|urladdress|website|websites|websiteaddress|homepage|webpage|weblink|webseite|internetseite|siteweb|sitioweb|sitoweb|hemsida)$/u,
}

/** Lower case, without spaces and punctuation: `E-Mail Address` is `emailaddress`. */
const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/**
 * The index of the column with the inputs: the one that `wanted` names or counts from 1, else the one whose name says that it has
 * addresses, domains or URLs, in this order, else the only one. Throws an `UnreadableFile` that names the columns.
 */
export function findInputColumn(names: readonly string[], wanted: string | null): number {
  if (wanted !== null) {
    const at = findNamed(names, wanted)
    if (at !== null) return at
    throw new UnreadableFile(options => `The file has no column of this name. ${describeColumns(names, options)}`, true)
  }
  if (names.length === 1) return 0
  for (const kind of SUBJECT_KINDS) {
    const at = findNamed(names, kind) ?? findKind(names, kind)
    if (at !== null) return at
  }
  throw new UnreadableFile(
    options =>
      `No column is named like \`email\`, \`domain\` or \`url\`. Choose one with ${options.column}. ${describeColumns(names, options)}`,
    true,
  )
}

/** The same for rows without names: the counted column, else the only one, else the only one with an address in the first row. */
export function findUnnamedColumn(cells: readonly string[], wanted: string | null): number {
  if (wanted !== null) {
    const at = countedColumn(cells.length, wanted)
    if (at !== null) return at
    throw new UnreadableFile(({ column }) => `Without a header, ${column} is a number from 1 to ${cells.length}.`, true)
  }
  if (cells.length === 1) return 0
  const [first, ...others] = cells.flatMap((cell, at) => (cell.includes("@") ? [at] : []))
  if (first !== undefined && others.length === 0) return first
  throw new UnreadableFile(
    ({ column }) => `The rows have ${cells.length} columns. Choose one by its number with ${column}.`,
    true,
  )
}

/** The exact name first, then the name without regard to case, spaces and punctuation, then the number. */
export function findNamed(names: readonly string[], wanted: string): number | null {
  const exact = names.indexOf(wanted)
  if (exact >= 0) return exact
  const folded = wanted.trim().toLowerCase()
  const same = names.findIndex(name => name.trim().toLowerCase() === folded)
  if (same >= 0) return same
  const counted = countedColumn(names.length, wanted)
  if (counted !== null) return counted
  const plain = plainName(wanted)
  const similar = plain === "" ? -1 : names.findIndex(name => plainName(name) === plain)
  return similar >= 0 ? similar : null
}

function countedColumn(columnCount: number, wanted: string): number | null {
  const place = /^\d+$/.test(wanted) ? Number(wanted) : 0
  return place >= 1 && place <= columnCount ? place - 1 : null
}

/** A column of this kind by its name: one that says just that, else the only one whose name ends so. */
function findKind(names: readonly string[], kind: SubjectKind): number | null {
  const [first, ...others] = kindColumns(names, kind)
  return first !== undefined && (first.isWhole || others.length === 0) ? first.index : null
}

/** A column by its name. `isWhole`: the name says nothing else. */
type NamedColumn = { readonly index: number; readonly isWhole: boolean }

/** The columns of this kind by their names: those whose whole names say so come first. */
export function kindColumns(names: readonly string[], kind: SubjectKind): readonly NamedColumn[] {
  return names
    .flatMap((name, index): readonly NamedColumn[] => {
      const found = COLUMN_NAMES[kind].exec(plainName(name))
      return found === null ? [] : [{ index, isWhole: found.index === 0 }]
    })
    .toSorted((one, other) => Number(other.isWhole) - Number(one.isWhole))
}

/** Why a column is the one with the inputs. `cells`: by what is in the first rows. */
export type ColumnReason = "asked" | "only" | "name" | "cells"

/** Why the column or member of a plan was chosen, if `asked` was; null: a text has none. */
export function columnReason(plan: ReadingPlan, asked: string | null): ColumnReason | null {
  const { format, width, hasHeader, inputIndex, member, columns } = plan
  if (format === "text") return null
  if (asked !== null) return "asked"
  if (format === "ndjson") return member === null ? "name" : "cells"
  if (width === 1) return "only"
  const isNamed = SUBJECT_KINDS.some(kind => kindColumns(columns.names, kind).some(({ index }) => index === inputIndex))
  return hasHeader && isNamed ? "name" : "cells"
}

/** How many columns are named in a message, and how much of a name. */
const NAMED_COLUMNS_MAX = 20
const NAME_LENGTH_MAX = 40

/** A column in a message: its number, and its name where it has one. */
export const columnInWords = (names: readonly string[], index: number): string => {
  const name = names[index]
  return name === undefined || holdsAddress(name) ? `${index + 1}` : `${index + 1} \`${shortName(name)}\``
}

/** The columns in words. A name that looks like an address, a domain or a URL is not shown: the file has no header then. */
export function describeColumns(names: readonly string[], { noHeader }: OptionNames): string {
  if (names.some(name => name.includes("@") || holdsAddress(name)))
    return `The first line looks like data. If the file has no header, use ${noHeader}.`
  if (names.length === 0) return "There is no line to read."
  return `The columns are: ${columnsInWords(names, [...names.keys()])}.`
}

/** Columns in a message, the first twenty of them. */
export function columnsInWords(names: readonly string[], indexes: readonly number[]): string {
  const shown = indexes.slice(0, NAMED_COLUMNS_MAX).map(index => columnInWords(names, index))
  return `${shown.join(", ")}${indexes.length > shown.length ? ` and ${indexes.length - shown.length} more` : ""}`
}

function shortName(name: string): string {
  if (INPUT_PATTERN.test(name) && !/\s/.test(name)) return "…"
  return escapeControls(name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name)
}
