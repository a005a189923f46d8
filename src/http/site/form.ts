import { utf8Text } from "../../base/utf8.ts"
import { rawBody } from "../body.ts"
import { invalidInput } from "../problem.ts"

/** What a form of a page sent. */
export type Form = {
  /** The field's text, without white space around it; empty when it was not sent. */
  readonly text: (name: string) => string
  /** The texts of a field that may come several times. */
  readonly all: (name: string) => readonly string[]
}

const TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i

/**
 * Reads a form as browsers send it (`application/x-www-form-urlencoded`), at most `bytesMax` octets. Rejects with
 * `payload_too_large`, or `invalid_input` for another media type and octets that are not UTF-8.
 */
export async function readForm(request: Request, bytesMax: number): Promise<Form> {
  if (!TYPE.test(request.headers.get("content-type") ?? "")) throw notAForm("The body is no form.")
  const text = utf8Text(await rawBody(request, bytesMax))
  if (text === null) throw notAForm("The form is not UTF-8.")
  const fields = new URLSearchParams(text)
  return { text: name => fields.get(name)?.trim() ?? "", all: name => fields.getAll(name) }
}

const notAForm = (detail: string) => invalidInput([{ pointer: "", detail }])
