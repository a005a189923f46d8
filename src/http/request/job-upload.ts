import type { JobFormat } from "../../contract/jobs.ts"
import { readFileName } from "../../rows/file-format.ts"
import { unsupportedList } from "../response/job-problems.ts"
import { invalidInput, type Problem } from "../response/problem.ts"
import { FIELD_BYTES_MAX, type FormPart, formBoundary, formParts, readField } from "./multipart.ts"
import { type UploadDeps, uploadChunks } from "./upload.ts"

/** A list that arrives with a request: alone, or as the file of a form. */
export type ArrivingUpload = {
  /** The fields of the form before the file. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** What the name of its file and its media type say. Null: they do not say. */
  readonly format: JobFormat | null
  readonly delimiter: string | null
  readonly isJson: boolean
  readonly content: AsyncIterable<Uint8Array>
  /** Must be called when nothing more is read. */
  readonly close: () => Promise<void>
}

const FIELDS_MAX = 40

/** What media types say of a list. Others of them say nothing, and its content decides. */
const NAMED_FORMATS: Readonly<Record<string, JobFormat>> = {
  "text/csv": "csv",
  "application/csv": "csv",
  "application/x-ndjson": "ndjson",
  "application/ndjson": "ndjson",
  "application/jsonl": "ndjson",
}
const SILENT_TYPES: readonly string[] = [
  "",
  // What curl, browsers and Windows say of any file.
  "application/octet-stream",
  "application/x-www-form-urlencoded",
  "application/vnd.ms-excel",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/json",
  "application/zip",
  "application/x-zip-compressed",
  "application/gzip",
  "application/x-gzip",
]

/** The media types of lists that the document names. */
export const LIST_MEDIA_TYPES: readonly string[] = [
  ...["text/plain", "text/csv", "application/x-ndjson", "application/json", "application/gzip", "application/zip"],
  ...["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "multipart/form-data"],
]

/**
 * Opens the list of a request. Of a form it reads the fields up to the file. Throws `unsupported_media_type`, and `invalid_input` for a form
 * that is malformed or has no file; `content` throws it for one in which something follows the file.
 */
export async function openUpload(request: Request, deps: UploadDeps): Promise<ArrivingUpload> {
  const contentType = request.headers.get("content-type")
  const chunks = uploadChunks(request, deps)
  const close = async (): Promise<void> => void (await chunks.return(undefined))
  const boundary = formBoundary(contentType)
  if (boundary === null) return { fields: [], ...knownOf("", mediaTypeOf(contentType)), content: chunks, close }
  try {
    return { ...(await openForm(formParts(chunks, boundary))), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openForm(parts: AsyncGenerator<FormPart, undefined>): Promise<Omit<ArrivingUpload, "close">> {
  const fields: (readonly [string, string])[] = []
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    const { name, fileName, mediaType, content } = next.value
    if (fileName !== null || name === "file")
      return { fields, ...knownOf(fileName ?? "", mediaTypeOf(mediaType)), content: onlyFile(content, parts) }
    if (fields.length === FIELDS_MAX) throw wrongForm(`A form has at most ${FIELDS_MAX} fields beside the file.`)
    const text = await readField(content)
    if (text === null) throw wrongForm(`A field of the form is longer than ${FIELD_BYTES_MAX} bytes.`)
    fields.push([name, text])
  }
  throw wrongForm("The form has no file. Send it as `-F file=@list.csv`, without the name of a file as its text.")
}

/** The file, which is the last part. */
async function* onlyFile(
  content: AsyncIterable<Uint8Array>,
  parts: AsyncGenerator<FormPart, undefined>,
): AsyncGenerator<Uint8Array, undefined> {
  yield* content
  const next = await parts.next()
  if (next.done === true) return
  throw wrongForm(
    next.value.fileName === null
      ? "A field of the form follows the file, which is read with the fields before it. Put the file last: `-F column=2 -F file=@list.csv`."
      : "The form has more than one file. Send one list at a time.",
  )
}

const mediaTypeOf = (contentType: string | null): string =>
  (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

/** What a file's name and media type say. Throws `unsupported_media_type`. */
function knownOf(fileName: string, mediaType: string): Pick<ArrivingUpload, "format" | "delimiter" | "isJson"> {
  const named = Object.hasOwn(NAMED_FORMATS, mediaType) ? (NAMED_FORMATS[mediaType] ?? null) : null
  if (named === null && !SILENT_TYPES.includes(mediaType) && !mediaType.startsWith("text/")) throw unsupportedList()
  const { format, delimiter, isJson } = readFileName(fileName)
  return { format: format ?? named, delimiter, isJson: isJson || mediaType === "application/json" }
}

const wrongForm = (detail: string): Problem => invalidInput([{ pointer: "", detail }])
