import { invalidInput, type Problem } from "../response/problem.ts"

/** A part of a form that is read as it arrives. */
export type FormPart = {
  readonly name: string
  /** Null: the part is a field. Empty: no file was chosen. */
  readonly fileName: string | null
  readonly mediaType: string
  /** The content. What is not read of it is skipped when the next part is asked for. */
  readonly content: AsyncGenerator<Uint8Array, undefined>
}

/** A form has at most so many parts, or fields. The largest of our pages selects 100 entries of a list. */
export const FORM_PARTS_MAX = 128

/** The problem of a form with more. */
export const tooManyParts = (): Problem => malformed(`A form has at most ${FORM_PARTS_MAX} parts.`)

/** The lines before a part, and what stands before the first one, are short. */
const HEAD_BYTES_MAX = 8192

const DASHES = "--"

/** The boundary that a `Content-Type` names (RFC 2046 §5.1.1). Null: it is no form with parts, or names none. */
export function formBoundary(contentType: string | null): string | null {
  const [, quoted, plain] =
    /^\s*multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(
      contentType ?? "",
    ) ?? []
  return quoted ?? plain ?? null
}

/**
 * The parts of a `multipart/form-data` body (RFC 7578) in their order, none of them held. Throws `invalid_input` for a body that is
 * malformed, ends early or has more than `FORM_PARTS_MAX` parts.
 */
export async function* formParts(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<FormPart, undefined> {
  const reader = new DelimitedReader(chunks)
  const delimiter = Buffer.from(`\r\n${DASHES}${boundary}`)
  await reader.readShort(delimiter)
  // What follows a boundary is the end of its line, or two dashes after the last one.
  let count = 0
  for (let rest = await reader.readShort(LINE_END); !rest.startsWith(DASHES); ) {
    if (++count > FORM_PARTS_MAX) throw tooManyParts()
    const head = await reader.readShort(HEAD_END)
    const content = reader.readUntil(delimiter)
    yield { ...parseHead(head), content }
    await skip(content)
    rest = (await reader.readLine()) ?? DASHES
  }
}

const LINE_END = Buffer.from("\r\n")
const HEAD_END = Buffer.from("\r\n\r\n")

async function skip(content: AsyncGenerator<Uint8Array, undefined>): Promise<void> {
  while ((await content.next()).done !== true);
}

/** Reads bytes up to delimiters. A form begins with a delimiter, before which a line end is thought. */
class DelimitedReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #buffer: Buffer = Buffer.from("\r\n")
  #isEnded = false

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The bytes before the delimiter, which is skipped. */
  async *readUntil(delimiter: Buffer): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      const at = this.#buffer.indexOf(delimiter)
      if (at >= 0) {
        const before = this.#buffer.subarray(0, at)
        this.#buffer = this.#buffer.subarray(at + delimiter.length)
        if (before.length > 0) yield before
        return
      }
      // The delimiter may begin in the last bytes.
      const safe = Math.max(0, this.#buffer.length - delimiter.length + 1)
      const before = this.#buffer.subarray(0, safe)
      this.#buffer = this.#buffer.subarray(safe)
      if (before.length > 0) yield before
      if (!(await this.#readMore())) throw malformed("The form ended before it was complete.")
    }
  }

  /** The same, for few bytes, as text. */
  async readShort(delimiter: Buffer): Promise<string> {
    const parts: Uint8Array[] = []
    let count = 0
    for await (const part of this.readUntil(delimiter)) {
      count += part.length
      if (count > HEAD_BYTES_MAX) throw malformed("The form's parts are malformed.")
      parts.push(part)
    }
    return Buffer.concat(parts).toString()
  }

  /** The rest of a line after a boundary. Null: the input has ended with it, as after the last boundary it may. */
  async readLine(): Promise<string | null> {
    while (this.#buffer.length < DASHES.length && (await this.#readMore()));
    if (this.#buffer.subarray(0, DASHES.length).toString() === DASHES) {
      await this.#skipRest()
      return null
    }
    return await this.readShort(LINE_END)
  }

  /** Few bytes follow the last part. More are left in the connection, which is then closed. */
  async #skipRest(): Promise<void> {
    for (let count = 0; count < HEAD_BYTES_MAX && (await this.#readMore()); ) {
      count += this.#buffer.length
      this.#buffer = Buffer.alloc(0)
    }
  }

  async #readMore(): Promise<boolean> {
    if (this.#isEnded) return false
    const next = await this.#chunks.next()
    if (next.done === true) {
      this.#isEnded = true
      return false
    }
    this.#buffer = this.#buffer.length === 0 ? Buffer.from(next.value) : Buffer.concat([this.#buffer, next.value])
    return true
  }
}

/** Fields and boundaries take so many bytes beside the file. */
export const FORM_BYTES_MAX = 65_536
/** A field has so many bytes. */
export const FIELD_BYTES_MAX = 4096

/** The text of a field; null: it is longer than `bytesMax`. */
export async function readField(
  content: AsyncIterable<Uint8Array>,
  bytesMax: number = FIELD_BYTES_MAX,
): Promise<string | null> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of content) {
    bytes += part.length
    if (bytes > bytesMax) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** The header of a part. Browsers escape quotes and line ends in names as `%22`, `%0D` and `%0A` (HTML §4.10.21.8). */
function parseHead(head: string): Pick<FormPart, "name" | "fileName" | "mediaType"> {
  const lines = head.split("\r\n")
  const headerOf = (field: string): string =>
    lines.find(line => line.toLowerCase().startsWith(`${field}:`))?.slice(field.length + 1) ?? ""
  const parameters = parametersOf(headerOf("content-disposition"))
  const name = parameters.get("name")
  if (name === undefined) throw malformed("The form's parts are malformed.")
  const fileName = parameters.get("filename") ?? null
  return {
    name: unescapeName(name),
    fileName: fileName === null ? null : unescapeName(fileName),
    mediaType: headerOf("content-type").trim(),
  }
}

/** A parameter of a `Content-Disposition`, quoted or a token (RFC 2183 §2). */
const PARAMETER = /;\s*([^\s=;"]+)=(?:"([^"]*)"|([^\s;"]+))/g

/** The parameters by their names. Of several with one name the first counts. */
const parametersOf = (disposition: string): ReadonlyMap<string, string> =>
  new Map(
    [...disposition.matchAll(PARAMETER)]
      .reverse()
      .map(([, name = "", quoted, token = ""]) => [name.toLowerCase(), quoted ?? token]),
  )

const unescapeName = (text: string): string =>
  text.replaceAll(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

const malformed = (detail: string): Problem => invalidInput([{ pointer: "", detail }])
