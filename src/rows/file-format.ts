import { detectBinaryFormat, detectEncoding, isMostlyControls } from "./file-signatures.ts"

/** The formats of inputs and results. */
export const FILE_FORMATS = ["text", "csv", "ndjson"] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

const FORMAT_BY_EXTENSION: Readonly<Record<string, FileFormat>> = {
  csv: "csv",
  tsv: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
}

/** What the name of a file says about it. */
export type FileName = {
  /** The format of its text; null: the name does not say. */
  readonly format: FileFormat | null
  /** The delimiter of CSV; null: the name does not say. */
  readonly delimiter: string | null
  /** Whether it is compressed. */
  readonly isGzip: boolean
  /** Whether it is called JSON: an array, or objects on a line each. */
  readonly isJson: boolean
}

/** Reads the ending of a file's name: `list.csv.gz` is compressed CSV. */
export function readFileName(path: string): FileName {
  const isGzip = /\.gz$/i.test(path)
  const ending = /\.(\w+)$/.exec(isGzip ? path.slice(0, -3) : path)?.[1]?.toLowerCase() ?? ""
  return {
    format: (Object.hasOwn(FORMAT_BY_EXTENSION, ending) ? FORMAT_BY_EXTENSION[ending] : null) ?? null,
    delimiter: ending === "tsv" ? "\t" : null,
    isGzip,
    isJson: ending === "json",
  }
}

/** The names of `--encoding` that differ from those of the Encoding Standard. `utf-16` is told by its mark, else little-endian. */
const ENCODING_ALIASES: Readonly<Record<string, string>> = {
  "latin-1": "latin1",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  cp1250: "windows-1250",
  cp1252: "windows-1252",
}

/** The name of an encoding as the Encoding Standard has it; null: it is not known. */
export function encodingName(asked: string): string | null {
  const label = asked.trim().toLowerCase()
  try {
    return new TextDecoder(Object.hasOwn(ENCODING_ALIASES, label) ? ENCODING_ALIASES[label] : label).encoding
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Whether the name is that of an encoding with a NUL in each ASCII character. */
export const isUtf16 = (encoding: string): boolean => encoding.startsWith("utf-16")

/** The encoding of a text: the one that its beginning shows, else the asked one; null: neither. Calls `refuse` as `decodeInput` does. */
export function decideEncoding(
  beginning: Uint8Array,
  asked: string | null,
  refuse: (says: string) => never,
): string | null {
  const says = detectBinaryFormat(beginning)
  if (says !== null) refuse(says)
  const isUtf16Asked = asked !== null && isUtf16(asked)
  const shown = detectEncoding(beginning)
  if (asked !== null && shown !== null && shown !== asked && !(isUtf16Asked && isUtf16(shown)))
    refuse(`is ${shown.toUpperCase()}, not ${asked.toUpperCase()}. Name ${shown}, or no encoding`)
  if (isUtf16Asked && !beginning.includes(0)) refuse(`is not ${asked.toUpperCase()}. Name another encoding, or none`)
  const encoding = shown ?? asked
  if ((encoding === null || encoding === "utf-8") && isMostlyControls(beginning))
    refuse("is not text. Save it as text, CSV or NDJSON")
  return encoding
}
