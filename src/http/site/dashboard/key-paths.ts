import { ROUTES } from "../../../contract/routes.ts"

type OfKey = "dashboardKey" | "postKeyName" | "postKeyRevoke"

/** The path of a key's own page, or of one of its forms. */
export const pathOfKey = (id: string, route: OfKey = "dashboardKey"): string =>
  ROUTES[route].path.replace(":id", encodeURIComponent(id))
