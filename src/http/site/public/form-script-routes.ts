import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { lazyPromise } from "../../../base/single-flight.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Exchange } from "../../exchange.ts"
import { pathOf } from "../../request/request-url.ts"
import { acceptsCoding } from "../../response/compression.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { FORM_SCRIPT, FORM_SCRIPT_VERSION, FORM_SCRIPT_VERSION_PATH } from "../form-script.ts"
import type { PageResponses } from "../page-responses.ts"

/** Every website may load the script, also one that isolates itself from others (COEP), and compare it with a hash. */
const FOR_ALL_WEBSITES = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Timing-Allow-Origin": "*",
} as const

/** Caches ask again after an hour. Meanwhile, and while this server is away, they use what they have. */
const REVALIDATED = "public, max-age=3600, stale-while-revalidate=86400, stale-if-error=604800"

const ETAG = `W/"${FORM_SCRIPT_VERSION}"`

const NOT_MODIFIED = 304

const OTHER_VERSION = `This server has another version of the form script. Load \`${ROUTES.formScript.path}\` instead.`

const CODINGS = ["br", "gzip"] as const

/** The script for forms of other websites: at a path for good, and at one for this version. */
export function formScriptRoutes(pages: Pick<PageResponses, "asset">) {
  // Compressed once, so as well as each method can: brotli by its default.
  const compressed = {
    br: lazyPromise(() => promisify(brotliCompress)(FORM_SCRIPT)),
    gzip: lazyPromise(() => promisify(gzip)(FORM_SCRIPT, { level: constants.Z_BEST_COMPRESSION })),
  }
  const respond = async (exchange: Exchange): Promise<Response> => {
    const accepted = exchange.request.headers.get("accept-encoding")
    const encoding = CODINGS.find(coding => acceptsCoding(accepted, coding)) ?? null
    const bytes = encoding === null ? FORM_SCRIPT : await compressed[encoding]()
    const response = pages.asset({ mediaType: "text/javascript; charset=utf-8", bytes, encoding }, exchange)
    for (const [name, value] of Object.entries(FOR_ALL_WEBSITES)) response.headers.set(name, value)
    return response
  }
  return handlers({
    formScript: async exchange => {
      const response = await respond(exchange)
      const { headers } = response
      headers.set("Cache-Control", REVALIDATED)
      headers.set("ETag", ETAG)
      if (!hasCurrentVersion(exchange.request.headers.get("if-none-match"))) return response
      for (const name of ["Content-Type", "Content-Encoding"]) headers.delete(name)
      return new Response(null, { status: NOT_MODIFIED, headers })
    },
    formScriptVersion: exchange => {
      if (pathOf(exchange.request) !== FORM_SCRIPT_VERSION_PATH) throw new Problem("not_found", OTHER_VERSION)
      return respond(exchange)
    },
  })
}

/** Whether `If-None-Match` (RFC 9110 §13.1.2) names the current script. */
const hasCurrentVersion = (ifNoneMatch: string | null): boolean =>
  (ifNoneMatch ?? "").split(",").some(tag => {
    const name = tag.trim().replace(/^W\//, "")
    return name === "*" || name === `"${FORM_SCRIPT_VERSION}"`
  })
