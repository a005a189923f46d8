import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import type { JsonResponses } from "../response/json-responses.ts"

/** What a page may load: files of this server only, no inline script and no inline style. */
const CONTENT_SECURITY_POLICY = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "font-src": "'self'",
  "connect-src": "'self'",
  "worker-src": "'self'",
  "frame-ancestors": "'none'",
  "base-uri": "'none'",
  "form-action": "'self'",
} as const

/** The API reference's script writes its styles into the page at run time, and it takes no nonce for most of them. */
const API_REFERENCE_SECURITY_POLICY = { ...CONTENT_SECURITY_POLICY, "style-src": "'self' 'unsafe-inline'" } as const

/** What is no page loads nothing. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

const policyHeader = (policy: Readonly<Record<string, string>>): string =>
  Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ")

/** Elsewhere nobody is told which page led there; here a form must tell its origin, which `no-referrer` would hide. */
const SECURITY_HEADERS = { "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff" } as const

const OK = 200
/** What follows a form is asked for by GET (RFC 9110 §15.4.4). */
const SEE_OTHER = 303

/** Writes the answers that people's browsers get. */
export type PageResponses = {
  readonly render: (page: VNode, request: Request, more?: PageResponseOptions) => Response
  /** A page that was rendered before. */
  readonly html: (html: string, request: Request, more?: PageResponseOptions) => Response
  /** A text that is not a page, such as the Markdown of one. */
  readonly text: (
    text: string,
    request: Request,
    mediaType: string,
    headers?: Readonly<Record<string, string>>,
  ) => Response
  /** Sends the browser to another page of ours. */
  readonly redirect: (path: string, request: Request, headers?: Readonly<Record<string, string>>) => Response
  /** The API reference: the one page with a script. */
  readonly apiReference: (html: string, request: Request) => Response
  /** A file that the browser saves, and nobody keeps. */
  readonly download: (body: string | ReadableStream<Uint8Array>, request: Request, as: DownloadOptions) => Response
  /** A file whose path names its content, so that it can be kept for good. */
  readonly asset: (file: AssetFile, request: Request) => Response
}

/** What differs from a page that is simply shown. */
type PageResponseOptions = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** Under which name a browser saves a file, of letters, digits, dots and hyphens alone. */
type DownloadOptions = { readonly fileName: string; readonly mediaType: string }

/** A file as it is sent. */
export type AssetFile = {
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Null: as it is. */
  readonly encoding: "gzip" | null
}

/** Builds the page answers of one server; over HTTPS browsers are told to stay there. */
export function createPageResponses(requestId: JsonResponses["requestId"], isHttps: boolean): PageResponses {
  const fixed = isHttps ? { ...SECURITY_HEADERS, "Strict-Transport-Security": "max-age=31536000" } : SECURITY_HEADERS
  const html =
    (policy: string) =>
    (text: string, request: Request, { status = OK, headers = {} }: PageResponseOptions = {}) =>
      new Response(text, {
        status,
        headers: { ...headers, ...fixed, ...textHeaders(HTML, policy), "X-Request-Id": requestId(request) },
      })
  const strict = html(policyHeader(CONTENT_SECURITY_POLICY))
  return {
    render: (page, request, more) => strict(`<!doctype html>${render(page)}`, request, more),
    html: strict,
    text: (text, request, mediaType, headers = {}) =>
      new Response(text, {
        headers: { ...headers, ...fixed, ...textHeaders(mediaType), "X-Request-Id": requestId(request) },
      }),
    redirect: (path, request, headers = {}) =>
      new Response(null, {
        status: SEE_OTHER,
        headers: {
          ...fixed,
          ...headers,
          "Cache-Control": "no-store",
          Location: path,
          "X-Request-Id": requestId(request),
        },
      }),
    apiReference: html(policyHeader(API_REFERENCE_SECURITY_POLICY)),
    download: (body, request, as) =>
      new Response(body, { headers: { ...fixed, ...downloadHeaders(as), "X-Request-Id": requestId(request) } }),
    asset: ({ mediaType, bytes, encoding }, request) =>
      new Response(bytes, {
        headers: {
          ...fixed,
          ...(encoding === null ? {} : { "Content-Encoding": encoding }),
          "Cache-Control": "public, max-age=31536000, immutable",
          // An SVG image that is opened as a document is a page too.
          "Content-Security-Policy": NO_CONTENT_POLICY,
          "Content-Type": mediaType,
          Vary: "Accept-Encoding",
          "X-Request-Id": requestId(request),
        },
      }),
  }
}

const HTML = "text/html; charset=utf-8"

const textHeaders = (mediaType: string, policy: string = NO_CONTENT_POLICY) => ({
  "Cache-Control": "no-store",
  "Content-Security-Policy": policy,
  "Content-Type": mediaType,
})

const downloadHeaders = ({ fileName, mediaType }: DownloadOptions) => ({
  ...textHeaders(mediaType),
  "Content-Disposition": `attachment; filename="${fileName}"`,
})

/**
 * The parts of a text as a body, each made when the one before has been taken. Where making one throws, `failed` hears of
 * it, and the body breaks off: whoever reads it sees that its end did not come.
 */
export function streamText(
  parts: AsyncGenerator<string>,
  failed: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async controller => {
      try {
        const { value, done } = await parts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        failed(error)
        // Without the error, which Bun would print as it is, whatever it holds.
        controller.error()
      }
    },
    cancel: async () => void (await parts.return(undefined)),
  })
}
