import { ROUTES } from "../../contract/routes.ts"
import { queryParameters } from "../request/request-url.ts"

const pathWithId =
  (path: string) =>
  (id: string): string =>
    path.replace(":id", encodeURIComponent(id))

/** The pages of one account, key or report, and what their forms send to, by its id. */
export const adminPaths = {
  account: pathWithId(ROUTES.adminAccount.path),
  tier: pathWithId(ROUTES.postAdminTier.path),
  keyRevocation: pathWithId(ROUTES.adminKeyRevocation.path),
  report: pathWithId(ROUTES.adminReport.path),
  accept: pathWithId(ROUTES.postAdminAccept.path),
  reject: pathWithId(ROUTES.postAdminReject.path),
} as const

/** A page with parameters; those that are empty are left out. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "")).toString()
  return query === "" ? path : `${path}?${query}`
}

/** A parameter of a page's URL, without white space around it; empty when it was not sent. */
export const queryParameter = (url: string, name: string): string => queryParameters(url).get(name)?.trim() ?? ""

type KeyRouteId = "dashboardKey" | "postKeyName" | "postKeyRevoke"

/** The path of a key's own page, or of one of its forms. */
export const keyPath = (id: string, route: KeyRouteId = "dashboardKey"): string =>
  ROUTES[route].path.replace(":id", encodeURIComponent(id))
