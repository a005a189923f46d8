import { h, type VNode } from "preact"
import { render } from "preact-render-to-string"
import { lazy } from "../../base/lazy.ts"
import { PROBLEMS } from "../../contract/problems.ts"
import type { Exchange, Viewer } from "../exchange.ts"
import { compress, isCompressible, VARY_ENCODING } from "../response/compression.ts"
import type { Problem } from "../response/problem.ts"
import { BaseUrl } from "./ui/social.tsx"
import { Offer, type ServerOffer, Viewing, Visitor } from "./ui/visitor.tsx"

/** Pages load files of this server only, and run no inline script and no inline style. */
const CONTENT_SECURITY_POLICY = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "connect-src": "'self'",
  "worker-src": "'self'",
  "frame-ancestors": "'none'",
  "base-uri": "'none'",
  "form-action": "'self'",
} as const

/** Files that are not pages load nothing. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

const PAGE_POLICY = Object.entries(CONTENT_SECURITY_POLICY)
  .map(([directive, sources]) => `${directive} ${sources}`)
  .join("; ")

/** Other sites do not learn which page links to them. `no-referrer` would also hide the origin of our own forms. */
const SECURITY_HEADERS = { "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff" } as const

const OK = 200
const NO_CONTENT = 204
/** After a form the browser requests the next page by GET (RFC 9110 §15.4.4). */
const SEE_OTHER = 303

/** The method stays the same, and so may the bookmark be replaced (RFC 9110 §15.4.9). */
const PERMANENT_REDIRECT = 308

/** Builds the responses that browsers get. */
export type PageResponses = {
  /** A complete page for strangers as text, for `html`. */
  readonly document: (page: VNode) => string
  readonly render: (page: VNode, exchange: Exchange, options?: PageResponseOptions) => Response
  /** Renders a page again whose form has an invalid input, with the status of `invalid_input`. */
  readonly renderInvalid: (page: VNode, exchange: Exchange) => Response
  /** Renders a page that explains a problem, with its status and `Retry-After`. */
  readonly renderProblem: (page: VNode, exchange: Exchange, problem: Problem) => Response
  /** A page that is HTML already, made by `document`. Its header becomes that of who looks at it. */
  readonly html: (html: string, exchange: Exchange, options?: PageResponseOptions) => Response
  /** A text that is not a page, such as the Markdown source of one. */
  readonly text: (
    text: string,
    exchange: Exchange,
    mediaType: string,
    headers?: Readonly<Record<string, string>>,
  ) => Response
  /** Redirects to another page of this server, with status 303. */
  readonly redirect: (path: string, exchange: Exchange, headers?: Readonly<Record<string, string>>) => Response
  /** Leads from another spelling of a page's path to the page, for good (308). */
  readonly moved: (path: string, exchange: Exchange) => Response
  /** A file that the browser saves and no cache stores. */
  readonly download: (
    body: string | ReadableStream<Uint8Array>,
    exchange: Exchange,
    options: DownloadOptions,
  ) => Response
  /** Server-sent events, which no proxy should hold back. */
  readonly events: (body: ReadableStream<Uint8Array>, exchange: Exchange) => Response
  /** Nothing: a browser that wanted events asks for them no more. */
  readonly noContent: (exchange: Exchange) => Response
  /** A file whose path holds the hash of its content, so that caches may store it for a year. */
  readonly asset: (file: AssetFile, exchange: Exchange) => Response
}

type PageResponseOptions = { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

/** `fileName` consists of letters, digits, dots and hyphens only. */
type DownloadOptions = { readonly fileName: string; readonly mediaType: string }

/** A file in the encoding in which it is sent. */
export type AssetFile = {
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Null: not compressed. */
  readonly encoding: "gzip" | "br" | null
}

/** Builds what renders pages for whoever looks at them. */
function createRenderer(baseUrl: () => string, offer: ServerOffer) {
  const renderFor = (page: VNode, viewer: Viewer | null): string => {
    const forViewer = h(Viewing.Provider, { value: viewer }, page)
    return render(h(BaseUrl.Provider, { value: baseUrl() }, h(Offer.Provider, { value: offer }, forViewer)))
  }
  const strangersHeader = lazy(() => renderFor(h(Visitor, {}), null))
  return {
    document: (page: VNode, viewer: Viewer | null = null): string => `<!doctype html>${renderFor(page, viewer)}`,
    /** A page that was rendered for strangers, with the header of who looks at it. */
    withHeader: (text: string, { viewer }: Exchange): string =>
      viewer === null ? text : text.replace(strangersHeader(), () => renderFor(h(Visitor, {}), viewer)),
  }
}

/**
 * Builds the page responses of one server. Over HTTPS they carry `Strict-Transport-Security`. The base address is for what other sites
 * show of a page.
 */
export function createPageResponses(isHttps: boolean, baseUrl: () => string, offer: ServerOffer): PageResponses {
  const { document, withHeader } = createRenderer(baseUrl, offer)
  const fixed = isHttps ? { ...SECURITY_HEADERS, "Strict-Transport-Security": "max-age=31536000" } : SECURITY_HEADERS
  const respond = (
    body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
    exchange: Exchange,
    headers: Readonly<Record<string, string>>,
    status = OK,
  ) => new Response(body, { status, headers: { ...fixed, ...headers, "X-Request-Id": exchange.id } })
  const html = (text: string, exchange: Exchange, { status, headers = {} }: PageResponseOptions = {}) => {
    const { Vary: varies, ...others } = headers
    const all = {
      ...others,
      ...textHeaders(HTML, PAGE_POLICY),
      Vary: varies === undefined ? VARY_ENCODING : `${varies}, ${VARY_ENCODING}`,
    }
    return isPageCompressed(text, exchange)
      ? respond(compress(text), exchange, { ...all, "Content-Encoding": "gzip" }, status)
      : respond(text, exchange, all, status)
  }
  const renderPage: PageResponses["render"] = (page, exchange, options) =>
    html(document(page, exchange.viewer), exchange, options)
  return {
    document,
    render: renderPage,
    renderInvalid: (page, exchange) => renderPage(page, exchange, { status: PROBLEMS.invalid_input.status }),
    renderProblem: (page, exchange, { code, headers, extensions: { retry_after: retryAfter } }) =>
      renderPage(page, exchange, {
        status: PROBLEMS[code].status,
        headers: { ...headers, ...(retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) }) },
      }),
    html: (text, exchange, options) => html(withHeader(text, exchange), exchange, options),
    text: (text, exchange, mediaType, headers = {}) =>
      respond(text, exchange, { ...headers, ...textHeaders(mediaType) }),
    redirect: (path, exchange, headers = {}) =>
      respond(null, exchange, { ...headers, "Cache-Control": "no-store", Location: path }, SEE_OTHER),
    moved: (path, exchange) =>
      respond(null, exchange, { "Cache-Control": "no-store", Location: path }, PERMANENT_REDIRECT),
    download: (body, exchange, options) => respond(body, exchange, downloadHeaders(options)),
    events: (body, exchange) =>
      respond(body, exchange, { ...textHeaders("text/event-stream; charset=utf-8"), "X-Accel-Buffering": "no" }),
    noContent: exchange => respond(null, exchange, { "Cache-Control": "no-store" }, NO_CONTENT),
    asset: (file, exchange) => respond(file.bytes, exchange, assetHeaders(file)),
  }
}

const HTML = "text/html; charset=utf-8"

/**
 * Whether a page is sent compressed. Answers to forms are not: they repeat what was sent beside new secrets, which the length
 * of a compressed page would give away.
 */
const isPageCompressed = (text: string, { request }: Exchange): boolean =>
  request.method === "GET" && isCompressible(text.length, request)

const textHeaders = (mediaType: string, policy: string = NO_CONTENT_POLICY) => ({
  "Cache-Control": "no-store",
  "Content-Security-Policy": policy,
  "Content-Type": mediaType,
})

const assetHeaders = ({ mediaType, encoding }: AssetFile): Readonly<Record<string, string>> => ({
  ...(encoding === null ? {} : { "Content-Encoding": encoding }),
  "Cache-Control": "public, max-age=31536000, immutable",
  // A browser can open an SVG image as a document.
  "Content-Security-Policy": NO_CONTENT_POLICY,
  "Content-Type": mediaType,
  Vary: VARY_ENCODING,
})

const downloadHeaders = ({ fileName, mediaType }: DownloadOptions) => ({
  ...textHeaders(mediaType),
  "Content-Disposition": `attachment; filename="${fileName}"`,
})

/**
 * Streams the parts of a text, each generated when the previous one has been read. When the generator throws, `onError` gets
 * the error and the body is aborted, so that the client does not take it for complete.
 */
export function streamText(
  parts: AsyncGenerator<string>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async controller => {
      try {
        const { value, done } = await parts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        onError(error)
        // Bun prints an error that is passed on here, and its message may hold personal data.
        controller.error()
      }
    },
    cancel: async () => void (await parts.return(undefined)),
  })
}
