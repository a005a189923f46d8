import { ROUTES, type RouteId } from "../../contract/routes.ts"
import { queryParameters } from "../request/request-url.ts"

/** The routes whose path names one account, key or report. */
type RouteIdWithId = {
  readonly [R in RouteId]: (typeof ROUTES)[R]["path"] extends `${string}:id${string}` ? R : never
}[RouteId]

/** The path of a route with the id of its account, key or report. */
export const pathWithId = (route: RouteIdWithId, id: string): string =>
  ROUTES[route].path.replace(":id", encodeURIComponent(id))

/** A path with query parameters. Empty values are left out. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "")).toString()
  return query === "" ? path : `${path}?${query}`
}

/** A query parameter of a URL, trimmed. Empty when it is missing. */
export const queryParameter = (url: string, name: string): string => queryParameters(url).get(name)?.trim() ?? ""

/** The query parameter that names what the previous request did. */
const FLASH_PARAMETER = "done"

/** A path whose page shows the flash message of this name. */
export const withFlash = (path: string, name: string): string => withQuery(path, { [FLASH_PARAMETER]: name })

/** The message of a page whose form was asked for by its target, which a reload does. */
export const NOT_SENT = "Nothing was changed. Fill in the form and send it again."

/** The page of a form, which says that nothing was sent. */
export const withoutForm = (path: string): string => withFlash(path, "nothing")

/** The page's message for what the previous request did. Null when the URL names nothing, or nothing in `messages`. */
export function flashMessage(url: string, messages: Readonly<Record<string, string>>): string | null {
  const name = queryParameters(url).get(FLASH_PARAMETER)
  if (name === "nothing") return NOT_SENT
  return name !== null && Object.hasOwn(messages, name) ? (messages[name] ?? null) : null
}
