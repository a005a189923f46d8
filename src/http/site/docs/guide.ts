import type { RouteId } from "../../../contract/routes.ts"

/** The pages of the documentation by part, in the order in which they are best read, and what each is called. */
export const GUIDE = [
  {
    part: "Using the API",
    pages: [
      { route: "docsStart", title: "Quick start" },
      { route: "docsKeys", title: "Keys and rotation" },
      { route: "docsSignUpForms", title: "Sign-up forms" },
      { route: "docsPolicies", title: "Policies" },
      { route: "docsReasons", title: "Reasons" },
      { route: "docsErrors", title: "Errors" },
      { route: "docsDegraded", title: "Degraded mode and failing open" },
      { route: "docsLimits", title: "Limits" },
      { route: "docsTestAddresses", title: "Test addresses" },
      { route: "docs", title: "API reference" },
    ],
  },
  {
    part: "What stands behind it",
    pages: [
      { route: "docsLists", title: "Lists" },
      { route: "docsPrivacy", title: "Privacy" },
      { route: "docsLicences", title: "Licences" },
    ],
  },
  {
    part: "Running it yourself",
    pages: [
      { route: "docsSelfHosting", title: "Self-hosting" },
      { route: "docsUpgrades", title: "Upgrades and backups" },
      { route: "docsScaling", title: "Many hosts" },
    ],
  },
] as const satisfies readonly {
  readonly part: string
  readonly pages: readonly { readonly route: RouteId; readonly title: string }[]
}[]

const PAGES = GUIDE.flatMap(({ pages }): readonly GuidePage[] => pages)

type GuidePage = { readonly route: RouteId; readonly title: string }

/** What a page of the documentation is called. */
export type GuideRoute = (typeof GUIDE)[number]["pages"][number]["route"]

/** The page, the one before it and the one after it; null: there is none. */
export function around(route: GuideRoute): {
  readonly page: GuidePage
  readonly before: GuidePage | null
  readonly after: GuidePage | null
} {
  const at = PAGES.findIndex(page => page.route === route)
  const page = PAGES[at] ?? { route, title: "" }
  return { page, before: PAGES[at - 1] ?? null, after: PAGES[at + 1] ?? null }
}
