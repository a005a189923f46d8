import { zipSync } from "fflate"

/** A workbook as Excel writes it. A sheet is the text inside its `sheetData`; `parts` replaces or adds parts. */
export function workbook(
  sheets: Readonly<Record<string, string>>,
  { texts = "", styles = "", is1904 = false }: { texts?: string; styles?: string; is1904?: boolean } = {},
  parts: Readonly<Record<string, string | Uint8Array>> = {},
): Uint8Array<ArrayBuffer> {
  const names = Object.keys(sheets)
  const links = names.map(
    (_, at) => `<Relationship Id="rId${at}" Type="x/worksheet" Target="worksheets/sheet${at}.xml"/>`,
  )
  const files: Record<string, string | Uint8Array> = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels":
      '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": `<workbook xmlns:r="x"><workbookPr date1904="${is1904 ? 1 : 0}"/><sheets>${names.map((name, at) => `<sheet name="${name}" r:id="rId${at}" state="${name.startsWith("hidden") ? "hidden" : "visible"}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${links.join("")}<Relationship Id="s" Type="x/sharedStrings" Target="/xl/sharedStrings.xml"/><Relationship Id="t" Type="x/styles" Target="styles.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `<sst>${texts}</sst>`,
    "xl/styles.xml": `<styleSheet>${styles}</styleSheet>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, at) => [
        `xl/worksheets/sheet${at}.xml`,
        `<x:worksheet><x:sheetData>${rows}</x:sheetData></x:worksheet>`,
      ]),
    ),
    ...parts,
  }
  return new Uint8Array(
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([path, part]) => [path, typeof part === "string" ? Buffer.from(part) : part]),
      ),
    ),
  )
}

/** Rows of texts that stand in their cells. */
export const rowsOf = (rows: readonly (readonly string[])[]): string =>
  rows.map(row => `<row>${row.map(text => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`).join("")
