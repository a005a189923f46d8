import { decodeUtf8 } from "../../base/text.ts"
import { type BodyReservations, readBytes } from "../request/body.ts"
import { invalidInput } from "../response/problem.ts"

/** What a form of a page sent. */
export type SubmittedForm = {
  /** The field's text, without white space around it; empty when it was not sent. */
  readonly text: (name: string) => string
  /** The texts of a field that may come several times. */
  readonly all: (name: string) => readonly string[]
  /** The file of a field; null: none was chosen. */
  readonly file: (name: string) => UploadedFile | null
}

/** A file as a browser sends it; what it is called, and called as, is the browser's word. */
export type UploadedFile = {
  readonly name: string
  readonly mediaType: string
  readonly bytes: () => Promise<Uint8Array>
}

const URLENCODED = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i
const MULTIPART = /^\s*multipart\/form-data\s*;/i

/**
 * Reads a form as browsers send it (`application/x-www-form-urlencoded`, or `multipart/form-data` by RFC 7578), at most
 * `bytesMax` octets. Rejects with `payload_too_large`, `overloaded`, or `invalid_input` for another media type, octets that are not
 * UTF-8 and parts that do not come to an end.
 */
export async function readForm(request: Request, bytesMax: number, bodies: BodyReservations): Promise<SubmittedForm> {
  const mediaType = request.headers.get("content-type") ?? ""
  if (MULTIPART.test(mediaType))
    return toSubmittedForm(await parseMultipart(await readBytes(request, bytesMax, bodies), mediaType))
  if (!URLENCODED.test(mediaType)) throw malformedForm("The body is no form.")
  const text = decodeUtf8(await readBytes(request, bytesMax, bodies))
  if (text === null) throw malformedForm("The form is not UTF-8.")
  return toSubmittedForm(new URLSearchParams(text))
}

/** The parts of a body that was read whole before, so that its bound holds. A text that is not UTF-8 has U+FFFD in it. */
async function parseMultipart(bytes: Uint8Array, mediaType: string): Promise<FormData> {
  try {
    return await new Response(Buffer.from(bytes), { headers: { "Content-Type": mediaType } }).formData()
  } catch (malformed) {
    if (malformed instanceof TypeError) throw malformedForm("The parts of the form cannot be told apart.")
    throw malformed
  }
}

type FormFieldValue = string | File

type FormFields = {
  readonly get: (name: string) => FormFieldValue | null
  readonly getAll: (name: string) => readonly FormFieldValue[]
}

function toSubmittedForm(fields: FormFields): SubmittedForm {
  return {
    text: name => {
      const value = fields.get(name)
      return typeof value === "string" ? value.trim() : ""
    },
    all: name => fields.getAll(name).filter(value => typeof value === "string"),
    file: field => {
      const value = fields.get(field)
      // Where no file was chosen a browser sends one without name and octets.
      if (value === null || typeof value === "string") return null
      // Bun gives no name where it is empty, whatever its types say.
      const { name = "", size, type: mediaType } = value
      return name === "" && size === 0 ? null : { name, mediaType, bytes: () => value.bytes() }
    },
  }
}

const malformedForm = (detail: string) => invalidInput([{ pointer: "", detail }])
