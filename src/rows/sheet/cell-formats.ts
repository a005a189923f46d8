import { readWholeXml, type XmlBounds } from "./xml-reader.ts"

/** How a number of a cell with a style looks. */
export type CellFormats = { readonly format: (value: string, style: number) => string }

/** The part with the styles has so many bytes at most, and so many styles. Excel has 65 490. */
const PART_BYTES_MAX = 8_388_608
const STYLES_MAX = 65_536
const CODE_LENGTH_MAX = 255

/** The formats that look different in each country, as ISO 8601. The others that stand in no file have one code everywhere. */
const LOCAL_DATES: Readonly<Record<number, string>> = { 14: "yyyy-mm-dd", 22: "yyyy-mm-dd hh:mm" }

/** Days between the first days of the two calendars of Excel. */
const DAYS_TO_1904 = 1462

/** Numbers without a format. */
export const PLAIN_FORMATS: CellFormats = { format: value => plainNumber(value) }

/** Reads the part with the styles. `is1904`: whether the days of the workbook count from 1904. */
export async function readCellFormats(
  parts: AsyncIterable<Uint8Array>,
  is1904: boolean,
  refuse: XmlBounds["refuse"],
): Promise<CellFormats> {
  const numfmt = await import("numfmt")
  const codes = new Map<number, string>()
  const styles: number[] = []
  let isCells = false
  await readWholeXml(
    parts,
    {
      onOpen: (name, { numFmtId, formatCode = "" }) => {
        if (name === "cellXfs") isCells = true
        else if (name === "numFmt" && codes.size < STYLES_MAX && formatCode.length <= CODE_LENGTH_MAX)
          codes.set(Number(numFmtId), formatCode)
        else if (name === "xf" && isCells && styles.length < STYLES_MAX) styles.push(Number(numFmtId))
      },
      onClose: name => {
        if (name === "cellXfs") isCells = false
      },
    },
    { name: "part with styles", bytesMax: PART_BYTES_MAX, refuse },
  )
  const codeOf = (id: number): string => codes.get(id) ?? LOCAL_DATES[id] ?? numfmt.getFormatFromId(id)
  const formatters = new Map<number, (value: string) => string>()
  return {
    format: (value, style) => {
      const id = styles[style] ?? 0
      const formatter = formatters.get(id) ?? formatterOf(numfmt, codeOf(id), is1904)
      formatters.set(id, formatter)
      return formatter(value)
    },
  }
}

type Numfmt = Pick<typeof import("numfmt"), "format" | "isDateFormat">

/** A code that is plain, or cannot be read, leaves the number as it is. */
function formatterOf({ format, isDateFormat }: Numfmt, code: string, is1904: boolean): (value: string) => string {
  if (/^(?:general|@)$/i.test(code)) return plainNumber
  try {
    const shift = is1904 && isDateFormat(code) ? DAYS_TO_1904 : 0
    format(code, 1)
    return value => {
      const number = Number(value)
      return value === "" || Number.isNaN(number) ? value : format(code, number + shift, { nbsp: false }).trim()
    }
  } catch {
    // The file's own code is wrong (numfmt throws a SyntaxError), and the number is shown without it.
    return plainNumber
  }
}

/** Excel keeps fifteen digits. */
const DIGITS_MAX = 15

function plainNumber(value: string): string {
  const number = Number(value)
  if (value === "" || !Number.isFinite(number)) return value
  return String(Number(number.toPrecision(DIGITS_MAX)))
}
