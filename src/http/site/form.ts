import { utf8Text } from "../../base/utf8.ts"
import { type Bodies, rawBody } from "../body.ts"
import { invalidInput } from "../problem.ts"

/** What a form of a page sent. */
export type Form = {
  /** The field's text, without white space around it; empty when it was not sent. */
  readonly text: (name: string) => string
  /** The texts of a field that may come several times. */
  readonly all: (name: string) => readonly string[]
  /** The file of a field; null: none was chosen. */
  readonly file: (name: string) => SentFile | null
}

/** A file as a browser sends it; what it is called, and called as, is the browser's word. */
export type SentFile = {
  readonly name: string
  readonly mediaType: string
  readonly bytes: () => Promise<Uint8Array>
}

const WORDS = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i
const PARTS = /^\s*multipart\/form-data\s*;/i

/**
 * Reads a form as browsers send it (`application/x-www-form-urlencoded`, or `multipart/form-data` by RFC 7578), at most
 * `bytesMax` octets. Rejects with `payload_too_large`, `overloaded`, or `invalid_input` for another media type, octets that are not
 * UTF-8 and parts that do not come to an end.
 */
export async function readForm(request: Request, bytesMax: number, bodies: Bodies): Promise<Form> {
  const mediaType = request.headers.get("content-type") ?? ""
  if (PARTS.test(mediaType)) return formOf(await partsOf(await rawBody(request, bytesMax, bodies), mediaType))
  if (!WORDS.test(mediaType)) throw notAForm("The body is no form.")
  const text = utf8Text(await rawBody(request, bytesMax, bodies))
  if (text === null) throw notAForm("The form is not UTF-8.")
  return formOf(new URLSearchParams(text))
}

/** The parts of a body that was read whole before, so that its bound holds. A text that is not UTF-8 has U+FFFD in it. */
async function partsOf(bytes: Uint8Array, mediaType: string): Promise<FormData> {
  try {
    return await new Response(Buffer.from(bytes), { headers: { "Content-Type": mediaType } }).formData()
  } catch (malformed) {
    if (malformed instanceof TypeError) throw notAForm("The parts of the form cannot be told apart.")
    throw malformed
  }
}

type Value = string | File

type Fields = { readonly get: (name: string) => Value | null; readonly getAll: (name: string) => readonly Value[] }

function formOf(fields: Fields): Form {
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

const notAForm = (detail: string) => invalidInput([{ pointer: "", detail }])
