import { lazy } from "../../base/lazy.ts"

/** What is called for the elements and texts of a part, in their order. Names have no prefix. */
export type XmlHandler = {
  readonly onOpen: (name: string, attributes: Readonly<Record<string, string>>) => void
  readonly onText?: (text: string) => void
  readonly onClose?: (name: string) => void
}

/** What of a part is read: so many bytes of it at most, and what is said of one that is larger. */
export type XmlBounds = {
  readonly name: string
  readonly bytesMax: number
  /** Throws with the rest of a sentence about the file. */
  readonly refuse: (says: string) => never
}

/** Elements stand in each other this deep at most, and a tag has so many attributes: no part of a spreadsheet has more. */
const DEPTH_MAX = 64
const ATTRIBUTES_MAX = 256
/** So many bytes are read at a time: a short row may have as many empty cells as a sheet has columns. */
const PIECE_BYTES = 4096
/** So many bytes in a row that are no end of a tag and no text are a tag or a comment that does not end. */
const SILENT_BYTES_MAX = 1_048_576

const htmlparser = lazy(() => require("htmlparser2") as typeof import("htmlparser2"))

/** Reads XML as it arrives. Gives a turn after each piece, when the handler has had all that is in it. Entities that a document declares stay as they stand. */
export async function* readXml(
  parts: AsyncIterable<Uint8Array>,
  handler: XmlHandler,
  { name, bytesMax, refuse }: XmlBounds,
): AsyncGenerator<null, undefined> {
  let [depth, attributes, bytes, silentBytes] = [0, 0, 0, 0]
  const damaged = (): never => refuse(`has a damaged ${name}. Save it again, or save the sheet as CSV`)
  const parser = new (htmlparser().Parser)(
    {
      onattribute: () => {
        if (++attributes > ATTRIBUTES_MAX) damaged()
      },
      onopentag: (tag, given) => {
        ;[attributes, silentBytes] = [0, 0]
        if (++depth > DEPTH_MAX) damaged()
        handler.onOpen(localName(tag), given)
      },
      ontext: text => {
        silentBytes = 0
        handler.onText?.(text)
      },
      onclosetag: tag => {
        silentBytes = 0
        depth--
        handler.onClose?.(localName(tag))
      },
      oncomment: () => {
        silentBytes = 0
      },
      onprocessinginstruction: () => {
        silentBytes = 0
      },
    },
    { xmlMode: true },
  )
  const decoder = new TextDecoder()
  for await (const part of parts) {
    bytes += part.length
    if (bytes > bytesMax) refuse(`has a ${name} of more than ${bytesMax} bytes unpacked. Save the sheet as CSV`)
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      const piece = part.subarray(at, at + PIECE_BYTES)
      silentBytes += piece.length
      parser.write(decoder.decode(piece, { stream: true }))
      if (silentBytes > SILENT_BYTES_MAX) damaged()
      yield null
    }
  }
  parser.end()
}

/** Reads XML to its end. */
export async function readWholeXml(...args: Parameters<typeof readXml>): Promise<void> {
  for await (const _ of readXml(...args));
}

const localName = (tag: string): string => tag.slice(tag.indexOf(":") + 1)
