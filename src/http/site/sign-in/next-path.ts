import { isSignedInPage, ROUTES } from "../../../contract/routes.ts"

/** Where somebody gets to who signed in and wanted nothing else. */
export const DEFAULT_NEXT_PATH = ROUTES.dashboard.path

/** A path and query of ours; no page of ours has a longer one. */
const NEXT_PATH_LENGTH_MAX = 1000

/** Stands for this server, whatever its address is. */
const PLACEHOLDER_ORIGIN = "http://here.invalid"

/**
 * The path and query of the page that a text names, if it is one of ours for people who are signed in; else `FIRST_PAGE`. It
 * is read as a browser reads the target of a redirect, so that what leads elsewhere there leads nowhere here.
 */
export function safeNextPath(text: string): string {
  const url = text.length > NEXT_PATH_LENGTH_MAX ? null : URL.parse(text, PLACEHOLDER_ORIGIN)
  return url !== null && url.origin === PLACEHOLDER_ORIGIN && isSignedInPage(url.pathname)
    ? `${url.pathname}${url.search}`
    : DEFAULT_NEXT_PATH
}

/** A path of the sign-in with the page that comes after it. */
export function withNextPath(path: string, next: string, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(next === DEFAULT_NEXT_PATH ? more : { ...more, next })
  return query.size === 0 ? path : `${path}?${query}`
}
