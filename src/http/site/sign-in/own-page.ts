import { isSignedInPage, ROUTES } from "../../../contract/routes.ts"

/** Where somebody gets to who signed in and wanted nothing else. */
export const FIRST_PAGE = ROUTES.dashboard.path

/** A path and query of ours; no page of ours has a longer one. */
const LENGTH_MAX = 1000

/** Stands for this server, whatever its address is. */
const HERE = "http://here.invalid"

/**
 * The path and query of the page that a text names, if it is one of ours for people who are signed in; else `FIRST_PAGE`. It
 * is read as a browser reads the target of a redirect, so that what leads elsewhere there leads nowhere here.
 */
export function ownPage(text: string): string {
  const url = text.length > LENGTH_MAX ? null : URL.parse(text, HERE)
  return url !== null && url.origin === HERE && isSignedInPage(url.pathname)
    ? `${url.pathname}${url.search}`
    : FIRST_PAGE
}

/** A path of the sign-in with the page that comes after it. */
export function leadingTo(path: string, next: string, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(next === FIRST_PAGE ? more : { ...more, next })
  return query.size === 0 ? path : `${path}?${query}`
}
