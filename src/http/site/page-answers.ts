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
  "frame-ancestors": "'none'",
  "base-uri": "'none'",
  "form-action": "'self'",
} as const

/** The API reference's script writes its styles into the page at run time, and it takes no nonce for most of them. */
const REFERENCE_POLICY = { ...POLICY, "style-src": "'self' 'unsafe-inline'" } as const

const header = (policy: Readonly<Record<string, string>>): string =>
  Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ")

const SAFE = { "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff" } as const

/** Writes the answers that people's browsers get. */
export type PageAnswers = {
  /** A page that runs no script. */
  readonly page: (page: VNode, request: Request) => Response
  /** The API reference: the one page with a script. */
  readonly reference: (html: string, request: Request) => Response
  /** A file whose path names its content, so that it can be kept for good. */
  readonly file: (file: ServedFile, request: Request) => Response
}

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
  const html = (policy: string) => (text: string, request: Request) =>
    new Response(text, {
      headers: {
        ...fixed,
        "Cache-Control": "no-store",
        "Content-Security-Policy": policy,
        "Content-Type": "text/html; charset=utf-8",
        "X-Request-Id": requestId(request),
      },
    })
  const strict = html(header(POLICY))
  return {
    page: (page, request) => strict(`<!doctype html>${render(page)}`, request),
    reference: html(header(REFERENCE_POLICY)),
    file: ({ mediaType, bytes, encoding }, request) =>
      new Response(bytes, {
        headers: {
          ...fixed,
          ...(encoding === null ? {} : { "Content-Encoding": encoding }),
          "Cache-Control": "public, max-age=31536000, immutable",
          // An SVG image that is opened as a document is a page too.
          "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
          "Content-Type": mediaType,
          Vary: "Accept-Encoding",
          "X-Request-Id": requestId(request),
        },
      }),
  }
}
