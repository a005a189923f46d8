import type { Pause } from "../base/concurrency.ts"
import { isJsonSpace, jsonArrayLines } from "../base/json-array.ts"
import { parseJson } from "../base/text.ts"
import { isJsonObject } from "../base/untrusted-text.ts"
import { archiveBytes, openZip, type ZipArchive } from "../base/zip-archive.ts"
import { hasByteOrderMark, MARK_BYTES, splitFirst, withBeginning, withoutMark } from "./beginning.ts"
import { type FileFormat, readFileName } from "./file-format.ts"
import { isZip } from "./file-signatures.ts"
import { decodeInput } from "./input-decoder.ts"
import { LINE_BYTES_MAX } from "./line-splitter.ts"
import type { ReadingOptions } from "./reading-plan.ts"
import { isOfficeDocument, xlsxLines } from "./sheet/xlsx-sheet.ts"

/** What is known of a file before it is read. */
export type InputAsked = {
  /** Null: it is found. */
  readonly encoding: string | null
  /** The name or the number of the sheet of a spreadsheet; null: the first one. */
  readonly sheet: string | null
  /** Whether its name or its sender calls it JSON. */
  readonly isJson: boolean
  /** An archive or a spreadsheet is held whole while it is read, and has so many bytes at most. */
  readonly archiveBytesMax: number
  /** Called between pieces of what an archive unpacks to, of which many may give no line. Absent: nobody waits. */
  readonly pause?: Pause
}

/** A file as the lines that `planFile` reads, and what it shows of their format. Null: nothing. */
export type OpenedInput = {
  readonly text: AsyncIterable<Uint8Array>
  readonly format: FileFormat | null
  readonly delimiter: string | null
  /** Whether the lines were made of something else, so that no other format can be theirs. */
  readonly isMade: boolean
}

/** What is asked of a file, with what it shows. */
export const withOpened = (options: ReadingOptions, { format, delimiter, isMade }: OpenedInput): ReadingOptions => ({
  ...options,
  format: isMade ? format : (options.format ?? format),
  delimiter: isMade ? delimiter : (options.delimiter ?? delimiter),
})

/** So much of a file decides whether it is JSON. */
const EXAMINED_BYTES_MAX = 65_536
const SIGNATURE_BYTES = 4

/**
 * Opens a file of any kind: a sheet of a spreadsheet becomes CSV, a JSON array NDJSON, and of a zip archive its only file is read. All others are
 * decoded as `decodeInput` does. Calls `refuse`, which throws, with the rest of a sentence about a file that cannot be read, and `tell` with the encoding once it is known.
 */
export async function openInput(
  parts: AsyncIterable<Uint8Array>,
  asked: InputAsked,
  refuse: (says: string) => never,
  tell: (encoding: string) => void = () => undefined,
): Promise<OpenedInput> {
  const split = await splitFirst(withBeginning(parts, hasSignature))
  if (split === null) return unknownText(nothing())
  const whole = split.wholeFrom(split.first)
  if (!isZip(split.first)) {
    if (asked.sheet !== null) refuse("is no spreadsheet, and has no sheets")
    return await openText(whole, asked, refuse, tell)
  }
  const { archiveBytesMax, pause = nobodyWaits } = asked
  const tooLarge = (): never =>
    refuse(
      `is a spreadsheet or a zip archive of more than ${archiveBytesMax} bytes. Save the sheet as CSV, or unpack it`,
    )
  const archive = await openZip(await archiveBytes(whole, archiveBytesMax, tooLarge, () => pause()), refuse, pause)
  if (!isOfficeDocument(archive)) return await openOnlyFile(archive, asked, refuse, tell)
  tell("utf-8")
  return { text: xlsxLines(archive, asked.sheet, refuse), format: "csv", delimiter: ",", isMade: true }
}

const nobodyWaits: Pause = () => undefined

const hasSignature = (beginning: Uint8Array): boolean => beginning.length >= SIGNATURE_BYTES

const unknownText = (text: AsyncIterable<Uint8Array>): OpenedInput => ({
  ...{ text, format: null, delimiter: null },
  isMade: false,
})

async function* nothing(): AsyncGenerator<Uint8Array, undefined> {
  // An empty file has no chunk.
}

async function openOnlyFile(
  archive: ZipArchive,
  asked: InputAsked,
  refuse: (says: string) => never,
  tell: (encoding: string) => void,
): Promise<OpenedInput> {
  const [file, ...others] = archive.files
  if (file === undefined) return refuse("is a zip archive without a file")
  if (archive.files.some(({ name }) => name === "mimetype" || name.endsWith(".iwa")))
    refuse("is an OpenDocument or Numbers file. Save its table as .xlsx or CSV")
  if (others.length > 0) refuse(`is a zip archive of ${archive.files.length} files. Send one list at a time`)
  if (asked.sheet !== null) refuse("is no spreadsheet, and has no sheets")
  const split = await splitFirst(withBeginning(archive.read(file), hasSignature))
  if (split === null) return unknownText(nothing())
  if (isZip(split.first)) refuse("is a zip archive with 1 archive or spreadsheet in it. Unpack it first")
  const name = readFileName(file.name)
  const opened = await openText(
    split.wholeFrom(split.first),
    { ...asked, isJson: asked.isJson || name.isJson },
    refuse,
    tell,
  )
  return { ...opened, format: opened.format ?? name.format, delimiter: opened.delimiter ?? name.delimiter }
}

async function openText(
  parts: AsyncIterable<Uint8Array>,
  { encoding, isJson }: InputAsked,
  refuse: (says: string) => never,
  tell: (encoding: string) => void,
): Promise<OpenedInput> {
  const split = await splitFirst(withBeginning(decodeInput(parts, encoding, refuse, tell), showsJson))
  if (split === null) return unknownText(nothing())
  const { first, wholeFrom } = split
  const text = withoutMark(first)
  const start = firstByte(text, 0)
  if (text[start] === OPEN_BRACKET && (isJson || BEGIN_ELEMENTS.includes(text[firstByte(text, start + 1)] ?? 0)))
    return {
      text: jsonArrayLines(wholeFrom(text), LINE_BYTES_MAX, refuse),
      format: "ndjson",
      delimiter: null,
      isMade: true,
    }
  if (!isJson || text[start] !== OPEN_BRACE) return unknownText(wholeFrom(first))
  return await openObjects(wholeFrom(text), refuse)
}

const [QUOTE, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('"{[]')

/** What stands after the bracket of an array that nobody calls JSON: a line of text may begin with one too. */
const BEGIN_ELEMENTS: readonly (number | undefined)[] = [QUOTE, OPEN_BRACE, CLOSE_BRACKET]

const firstByte = (text: Uint8Array, from: number): number => {
  let at = from
  while (isJsonSpace(text[at])) at++
  return at
}

/** Whether the beginning has the first byte that is no space, and after a bracket the next one. */
function showsJson(beginning: Uint8Array): boolean {
  if (beginning.length > EXAMINED_BYTES_MAX) return true
  const start = firstByte(beginning, hasByteOrderMark(beginning) ? MARK_BYTES : 0)
  const end = beginning[start] === OPEN_BRACKET ? firstByte(beginning, start + 1) : start
  return end < beginning.length
}

/** Objects of a file that is called JSON: each on a line of its own. */
async function openObjects(parts: AsyncIterable<Uint8Array>, refuse: (says: string) => never): Promise<OpenedInput> {
  const split = await splitFirst(withBeginning(parts, beginning => beginning.length > EXAMINED_BYTES_MAX))
  const [line = "", ...others] = Buffer.from(split?.first ?? [])
    .toString()
    .trim()
    .split("\n", 2)
  if (split === null || others.length === 0 || !isJsonObject(parseJson(line)))
    return refuse("is one JSON object, not a list. Send an array, `[{…}, {…}]`, or one object on each line")
  return { ...unknownText(split.wholeFrom(split.first)), format: "ndjson" }
}
