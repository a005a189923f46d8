import { ROUTES } from "../../../contract/routes.ts"
import { queryOf } from "../../query.ts"

const withId =
  (path: string) =>
  (id: string): string =>
    path.replace(":id", encodeURIComponent(id))

/** The pages of one account, key or report, and what their forms send to, by its id. */
export const adminPaths = {
  account: withId(ROUTES.adminAccount.path),
  tier: withId(ROUTES.postAdminTier.path),
  keyRevocation: withId(ROUTES.adminKeyRevocation.path),
  report: withId(ROUTES.adminReport.path),
  accept: withId(ROUTES.postAdminAccept.path),
  reject: withId(ROUTES.postAdminReject.path),
} as const

/** A page with parameters; those that are empty are left out. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "")).toString()
  return query === "" ? path : `${path}?${query}`
}

/** A parameter of a page's URL, without white space around it; empty when it was not sent. */
export const parameterOf = (url: string, name: string): string => queryOf(url).get(name)?.trim() ?? ""
