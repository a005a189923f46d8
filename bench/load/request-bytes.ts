/** One HTTP request before it is written. */
export type Request = {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Empty: no body, and no Content-Length. */
  readonly body: string
}

/**
 * The bytes of an HTTP/1.1 request, which keeps its connection. `Host` and `Content-Length` are written here. Throws
 * when the method or a header could break out of its line.
 */
export function requestBytes({ method, url, headers, body }: Request): Uint8Array {
  const encoded = new TextEncoder().encode(body)
  const fields = Object.entries({ Host: url.host, ...headers })
  if (encoded.length > 0) fields.push(["Content-Length", String(encoded.length)])
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, ...fields.map(field => field.join(": "))]
  if (lines.some(line => !ONE_LINE.test(line))) throw new Error("a method or a header holds a control character")
  const head = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`)
  const bytes = new Uint8Array(head.length + encoded.length)
  bytes.set(head)
  bytes.set(encoded, head.length)
  return bytes
}

const ONE_LINE = /^[^\p{Cc}]+$/u

/** Where connections are made to, as sockets take it. `tls` null: without TLS. */
export type Endpoint = {
  readonly hostname: string
  readonly port: number
  readonly tls: true | { readonly rejectUnauthorized: false } | null
}

/**
 * The endpoint of an `http:` or `https:` URL: an IPv6 address without brackets, 80 or 443 when no port is written. TLS
 * connections are made only to who the URL names, unless any certificate will do.
 */
export const endpointOf = (url: URL, trustsAnybody = false): Endpoint => ({
  hostname: url.hostname.replace(/^\[|\]$/g, ""),
  port: Number(url.port || (url.protocol === "https:" ? 443 : 80)),
  tls: url.protocol !== "https:" ? null : trustsAnybody ? { rejectUnauthorized: false } : true,
})
