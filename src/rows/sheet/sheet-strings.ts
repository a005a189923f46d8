import { readWholeXml, type XmlBounds } from "./xml-reader.ts"

/** The texts that cells share. Their bytes stand in one place, because a million strings would take ten times as much. */
export type SheetStrings = { readonly at: (index: number) => string }

/** A spreadsheet shares so many texts at most, of so many bytes together. */
const STRINGS_MAX = 2_000_000
const STRING_BYTES_MAX = 33_554_432
/** The part that holds them has so many bytes at most. */
const PART_BYTES_MAX = 134_217_728

/** What no cell refers to. */
export const NO_STRINGS: SheetStrings = { at: () => "" }

/** Reads the part with the shared texts. */
export async function readSheetStrings(
  parts: AsyncIterable<Uint8Array>,
  refuse: XmlBounds["refuse"],
): Promise<SheetStrings> {
  const table = new StringTable(refuse)
  const reader = createTextReader("si")
  await readWholeXml(
    parts,
    {
      onOpen: reader.onOpen,
      onText: reader.onText,
      onClose: name => {
        if (reader.onClose(name)) table.add(reader.take())
      },
    },
    { name: "part with texts", bytesMax: PART_BYTES_MAX, refuse },
  )
  return table
}

/** A cell has at most so many characters in Excel. What is beyond is cut. */
const TEXT_LENGTH_MAX = 32_767

/** Collects the texts of one element, as they are seen: without what says how they are pronounced. */
export function createTextReader(element: string) {
  let [text, isInside, isText, isPhonetic] = ["", false, false, false]
  return {
    onOpen: (name: string): void => {
      if (name === element) [text, isInside] = ["", true]
      else if (name === "rPh") isPhonetic = true
      else if (name === "t") isText = isInside && !isPhonetic
    },
    onText: (more: string): void => {
      if (isText && text.length < TEXT_LENGTH_MAX) text += more.slice(0, TEXT_LENGTH_MAX - text.length)
    },
    /** Whether the element ends. */
    onClose: (name: string): boolean => {
      if (name === "t") isText = false
      else if (name === "rPh") isPhonetic = false
      else if (name === element) {
        isInside = false
        return true
      }
      return false
    },
    take: (): string => unescapeText(text),
  }
}

/** Characters that XML cannot hold are written as `_x000D_`. */
export const unescapeText = (text: string): string =>
  text.includes("_x")
    ? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text

class StringTable implements SheetStrings {
  readonly #refuse: XmlBounds["refuse"]
  readonly #ends: number[] = []
  #bytes = Buffer.allocUnsafeSlow(65_536)
  #length = 0

  constructor(refuse: XmlBounds["refuse"]) {
    this.#refuse = refuse
  }

  add(text: string): void {
    const end = this.#length + Buffer.byteLength(text)
    if (end > STRING_BYTES_MAX || this.#ends.length >= STRINGS_MAX)
      this.#refuse(
        `has more than ${STRINGS_MAX} texts, or texts of more than ${STRING_BYTES_MAX} bytes. Save the sheet as CSV`,
      )
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#bytes.write(text, this.#length)
    this.#ends.push(end)
    this.#length = end
  }

  at(index: number): string {
    const end = this.#ends[index]
    return end === undefined ? "" : this.#bytes.toString("utf8", this.#ends[index - 1] ?? 0, end)
  }
}
