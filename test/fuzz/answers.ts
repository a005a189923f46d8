import { gunzipSync } from "node:zlib"

/** An answer as it came. */
export type Answer = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** As text, out of whatever encoding it came in. */
  readonly body: string
  /** The server closes the connection after it. */
  readonly closes: boolean
}

const HEAD_END = "\r\n\r\n"

/**
 * The first answer in these octets that is final (RFC 9110 §15.2), to a request of this method. Null: it is not whole yet;
 * `exceedsUtf8Bytes`: no more will come.
 */
export function answerIn(bytes: Buffer, method: string, isOver: boolean): Answer | "unreadable" | null {
  for (let at = 0; ; ) {
    const end = bytes.indexOf(HEAD_END, at)
    if (end < 0) return isOver && bytes.length > at ? "unreadable" : null
    const [line = "", ...fields] = bytes.toString("latin1", at, end).split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3}) ?/.exec(line)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) return "unreadable"
    at = end + HEAD_END.length
    if (status >= 200) return whole({ status, headers: mapOf(fields) }, bytes.subarray(at), method, isOver)
  }
}

const mapOf = (fields: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    fields.map(field => [field.slice(0, field.indexOf(":")).toLowerCase(), field.slice(field.indexOf(":") + 1).trim()]),
  )

type Head = Pick<Answer, "status" | "headers">

function whole({ status, headers }: Head, rest: Buffer, method: string, isOver: boolean): Answer | "unreadable" | null {
  const closes = headers.get("connection")?.toLowerCase() === "close"
  const isGzip = headers.get("content-encoding") === "gzip"
  const answer = (body: Buffer): Answer => {
    const text = isGzip && body.length > 0 ? gunzipSync(body) : body
    return { status, headers, body: text.toString(), closes }
  }
  if (method === "HEAD" || status === 204 || status === 304) return answer(Buffer.alloc(0))
  const length = Number(headers.get("content-length") ?? Number.NaN)
  if (rest.length >= length) return answer(rest.subarray(0, length))
  const body = headers.get("transfer-encoding") === "chunked" ? unchunked(rest) : null
  if (body !== null) return answer(body)
  return isOver ? (Number.isNaN(length) && !headers.has("transfer-encoding") ? answer(rest) : "unreadable") : null
}

/** What the chunks hold; null: the last one is not there yet. */
function unchunked(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n", at)
    if (end < 0) return null
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16)
    const next = end + 2 + size + 2
    if (!(next <= bytes.length)) return null
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = next
  }
}
