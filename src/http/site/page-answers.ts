import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import type { Answers } from "../answer.ts"

/** What a page may load: files of this server only, no inline script and no inline style. */
const POLICY = {
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
const REFERENCE_POLICY = { ...POLICY, "style-src": "'self' 'unsafe-inline'" } as const

/** What is no page loads nothing. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'"

const header = (policy: Readonly<Record<string, string>>): string =>
  Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ")

/** Elsewhere nobody is told which page led there; here a form must tell its origin, which `no-referrer` would hide. */
const SAFE = { "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff" } as const

const OK = 200
/** What follows a form is asked for by GET (RFC 9110 §15.4.4). */
const SEE_OTHER = 303

/** Writes the answers that people's browsers get. */
export type PageAnswers = {
  readonly page: (page: VNode, request: Request, more?: PageMore) => Response
  /** Sends the browser to another page of ours. */
  readonly goTo: (path: string, request: Request, headers?: Readonly<Record<string, string>>) => Response
  /** The API reference: the one page with a script. */
  readonly reference: (html: string, request: Request) => Response
  /** A file that the browser saves, and nobody keeps. */
  readonly download: (body: string | ReadableStream<Uint8Array>, request: Request, as: Saved) => Response
  /** A file whose path names its content, so that it can be kept for good. */
  readonly file: (file: ServedFile, request: Request) => Response
}

/** What differs from a page that is simply shown. */
export type PageMore = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** Under which name a browser saves a file, of letters, digits, dots and hyphens alone. */
export type Saved = { readonly name: string; readonly mediaType: string }

/** A file as it is sent. */
export type ServedFile = {
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Null: as it is. */
  readonly encoding: "gzip" | null
}

/** Builds the page answers of one server; over HTTPS browsers are told to stay there. */
export function pageAnswers(requestId: Answers["requestId"], isHttps: boolean): PageAnswers {
  const fixed = isHttps ? { ...SAFE, "Strict-Transport-Security": "max-age=31536000" } : SAFE
  const html =
    (policy: string) =>
    (text: string, request: Request, { status = OK, headers = {} }: PageMore = {}) =>
      new Response(text, {
        status,
        headers: {
          ...headers,
          ...fixed,
          "Cache-Control": "no-store",
          "Content-Security-Policy": policy,
          "Content-Type": "text/html; charset=utf-8",
          "X-Request-Id": requestId(request),
        },
      })
  const strict = html(header(POLICY))
  return {
    page: (page, request, more) => strict(`<!doctype html>${render(page)}`, request, more),
    goTo: (path, request, headers = {}) =>
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
    reference: html(header(REFERENCE_POLICY)),
    download: (body, request, as) =>
      new Response(body, { headers: { ...fixed, ...savedAs(as), "X-Request-Id": requestId(request) } }),
    file: ({ mediaType, bytes, encoding }, request) =>
      new Response(bytes, {
        headers: {
          ...fixed,
          ...(encoding === null ? {} : { "Content-Encoding": encoding }),
          "Cache-Control": "public, max-age=31536000, immutable",
          // An SVG image that is opened as a document is a page too.
          "Content-Security-Policy": NOTHING,
          "Content-Type": mediaType,
          Vary: "Accept-Encoding",
          "X-Request-Id": requestId(request),
        },
      }),
  }
}

const savedAs = ({ name, mediaType }: Saved) => ({
  "Cache-Control": "no-store",
  "Content-Disposition": `attachment; filename="${name}"`,
  "Content-Security-Policy": NOTHING,
  "Content-Type": mediaType,
})
