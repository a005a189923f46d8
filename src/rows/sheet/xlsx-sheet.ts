import { redactAddresses } from "../../base/address-redaction.ts"
import type { ArchivedFile, ZipArchive } from "../../base/zip-archive.ts"
import { PLAIN_FORMATS, readCellFormats } from "./cell-formats.ts"
import { sheetLines } from "./sheet-rows.ts"
import { NO_STRINGS, readSheetStrings } from "./sheet-strings.ts"
import { readWholeXml, type XmlBounds, type XmlHandler } from "./xml-reader.ts"

/** The parts that say where the others are have so many bytes at most, and name so many. */
const PART_BYTES_MAX = 4_194_304
const NAMED_MAX = 10_000

/** Sheets whose names a message shows, and characters of each. */
const SHOWN_SHEETS_MAX = 20
const SHOWN_NAME_LENGTH_MAX = 60

/** Whether an archive is a document of Office. */
export const isOfficeDocument = ({ files }: ZipArchive): boolean =>
  files.some(({ name }) => name === "[Content_Types].xml")

/**
 * A sheet of a workbook as lines of CSV: that with the name, or with the number if none has it; null: the first that is not hidden. Calls
 * `refuse`, which throws, for a document that is no workbook or has no such sheet.
 */
export async function* xlsxLines(
  archive: ZipArchive,
  asked: string | null,
  refuse: XmlBounds["refuse"],
): AsyncGenerator<Uint8Array, undefined> {
  const parts = new Map(archive.files.map(file => [file.name.toLowerCase(), file]))
  const partAt = (path: string): ArchivedFile | undefined => parts.get(path.toLowerCase())
  const readPart = (file: ArchivedFile, onOpen: XmlHandler["onOpen"]): Promise<void> =>
    readWholeXml(archive.read(file), { onOpen }, { name: "workbook", bytesMax: PART_BYTES_MAX, refuse })
  const linksOf = async (path: string): Promise<readonly Link[]> => {
    const slash = path.lastIndexOf("/") + 1
    const file = partAt(`${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`)
    const links: Link[] = []
    if (file === undefined) return links
    await readPart(file, (name, { Id: id = "", Type: type = "", Target: target = "" }) => {
      if (name === "Relationship" && links.length < NAMED_MAX)
        links.push({ id, kind: type.slice(type.lastIndexOf("/") + 1), path: pathFrom(path, target) })
    })
    return links
  }
  const root = (await linksOf("")).find(({ kind }) => kind === "officeDocument")
  const workbook = root === undefined ? undefined : partAt(root.path)
  if (root === undefined || workbook === undefined || !/\.xml$/i.test(root.path) || !/workbook/i.test(root.path))
    return refuse("is a document of Office, but no .xlsx workbook. Save its table as .xlsx or CSV")
  const sheets: Sheet[] = []
  let is1904 = false
  await readPart(workbook, (name, attributes) => {
    if (name === "workbookPr") is1904 = /^(?:1|true)$/.test(attributes["date1904"] ?? "")
    else if (name === "sheet" && sheets.length < NAMED_MAX) sheets.push(sheetOf(attributes))
  })
  const links = await linksOf(root.path)
  const tables = sheets.flatMap(sheet => {
    const link = links.find(({ id, kind }) => id === sheet.linkId && kind === "worksheet")
    const file = link === undefined ? undefined : partAt(link.path)
    return file === undefined ? [] : [{ ...sheet, file }]
  })
  const sheet = chosenSheet(tables, asked)
  if (sheet === undefined) return refuse(withoutSheet(tables))
  const linked = (wanted: string): ArchivedFile | undefined =>
    partAt(links.find(({ kind }) => kind === wanted)?.path ?? "")
  const [texts, styles] = [linked("sharedStrings"), linked("styles")]
  const strings = texts === undefined ? NO_STRINGS : await readSheetStrings(archive.read(texts), refuse)
  const formats = styles === undefined ? PLAIN_FORMATS : await readCellFormats(archive.read(styles), is1904, refuse)
  yield* sheetLines(archive.read(sheet.file), { strings, formats }, refuse)
}

/** What a part refers to. */
type Link = { readonly id: string; readonly kind: string; readonly path: string }

/** The path of a target, which is that of a part with `path`, or of the archive. */
function pathFrom(path: string, target: string): string {
  const steps = target.startsWith("/") ? [] : path.split("/").slice(0, -1)
  for (const step of target.split("/"))
    if (step === "..") steps.pop()
    else if (step !== "" && step !== ".") steps.push(step)
  return steps.join("/")
}

type Sheet = { readonly name: string; readonly linkId: string; readonly isHidden: boolean }

const sheetOf = (attributes: Readonly<Record<string, string>>): Sheet => ({
  name: attributes["name"] ?? "",
  // The prefix is `r` by custom.
  linkId: Object.entries(attributes).find(([name]) => name.endsWith(":id"))?.[1] ?? "",
  isHidden: (attributes["state"] ?? "visible") !== "visible",
})

function chosenSheet<S extends Sheet>(sheets: readonly S[], asked: string | null): S | undefined {
  if (asked === null) return sheets.find(({ isHidden }) => !isHidden) ?? sheets[0]
  const named = sheets.find(({ name }) => name === asked)
  return named ?? (/^[1-9]\d{0,3}$/.test(asked) ? sheets[Number(asked) - 1] : undefined)
}

function withoutSheet(sheets: readonly Sheet[]): string {
  if (sheets.length === 0) return "has no sheet"
  const names = sheets
    .slice(0, SHOWN_SHEETS_MAX)
    .map(({ name }, at) => `${at + 1} \`${redactAddresses(name, SHOWN_NAME_LENGTH_MAX)}\``)
  return `has no sheet of this name or number. Its sheets are ${names.join(", ")}${sheets.length > SHOWN_SHEETS_MAX ? " and others" : ""}`
}
