import type { InputFault } from "../response/problem.ts"

/*
 * The URL of a request is not always complete: without a `Host`, as in HTTP/1.0, or with one that is not a valid host, the
 * runtime gives only the path and the query. So these functions read the text instead of parsing it as a URL.
 */

/** The path of a request as sent, without its query. */
export function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  const end = url.indexOf("?", start)
  return url.slice(start, end < 0 ? undefined : end)
}

/** The query of a request's URL as sent, without the question mark; empty: there is none. */
export function queryOf(url: string): string {
  const start = url.indexOf("?")
  return start < 0 ? "" : url.slice(start + 1)
}

/** The query parameters of a page, as browsers send forms: `+` is a space, and bytes that are not UTF-8 are U+FFFD. */
export const queryParameters = (url: string): URLSearchParams => new URLSearchParams(queryOf(url))

/** A parameter of a query. A value of null: its escapes are not UTF-8. */
export type UriParameter = { readonly name: string | null; readonly value: string | null }

/** Escapes that are not UTF-8 take microseconds each. */
const QUERY_PARAMETERS_MAX = 256

/**
 * The query parameters of a request to the API, in their order. They are decoded by RFC 3986: `+` is a plus, and only escapes
 * are decoded. A `%` that starts no escape stands for itself. Of too many, which `parameterCountFault` tells, only the first are given.
 */
export const uriParameters = (url: string): readonly UriParameter[] =>
  queryOf(url)
    .split("&", QUERY_PARAMETERS_MAX + 1)
    .map(pair => {
      const end = pair.indexOf("=")
      if (end < 0) return { name: decodeUriText(pair), value: "" }
      return { name: decodeUriText(pair.slice(0, end)), value: decodeUriText(pair.slice(end + 1)) }
    })

/** The fault of a query with more than `QUERY_PARAMETERS_MAX` parameters; null: it has no more. */
export const parameterCountFault = (sent: readonly UriParameter[]): InputFault | null =>
  sent.length > QUERY_PARAMETERS_MAX ? { detail: `The query has more than ${QUERY_PARAMETERS_MAX} parameters.` } : null

const BARE_PERCENT = /%(?![0-9a-f]{2})/gi

/** The text with its escapes decoded; null: they are not UTF-8. */
function decodeUriText(text: string): string | null {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text.replace(BARE_PERCENT, "%25"))
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}
