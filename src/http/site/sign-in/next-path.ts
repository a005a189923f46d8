import { isSignedInPage, ROUTES } from "../../../contract/routes.ts"
import type { Exchange } from "../../exchange.ts"
import { queryParameters } from "../../request/request-url.ts"

/** The page after a sign-in that names no other. */
export const DEFAULT_NEXT_PATH = ROUTES.dashboard.path

/** No page of this server has a longer path and query. */
const NEXT_PATH_LENGTH_MAX = 1000

/** Stands for the origin of this server, which a relative path does not name. */
const PLACEHOLDER_ORIGIN = "http://here.invalid"

/**
 * The path and query that `text` names if it is a page of this server for signed-in users, else `DEFAULT_NEXT_PATH`. The text is
 * parsed as browsers parse the target of a redirect, so that it cannot lead to another site (open redirect).
 */
export function safeNextPath(text: string): string {
  const url = text.length > NEXT_PATH_LENGTH_MAX ? null : URL.parse(text, PLACEHOLDER_ORIGIN)
  return url !== null && url.origin === PLACEHOLDER_ORIGIN && isSignedInPage(url.pathname)
    ? `${url.pathname}${url.search}`
    : DEFAULT_NEXT_PATH
}

/** A path of the sign-in that remembers the page after it. */
export function withNextPath(path: string, next: string, parameters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(next === DEFAULT_NEXT_PATH ? parameters : { ...parameters, next })
  return query.size === 0 ? path : `${path}?${query}`
}

/** The next page that the URL of a sign-in page names. */
export const nextPathInUrl = (exchange: Exchange): string =>
  safeNextPath(queryParameters(exchange.request.url).get("next") ?? "")
