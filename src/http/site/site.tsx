/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../contract/routes.ts"
import type { FreeChecks } from "../../customers/free-checks/free-checks.ts"
import type { Answers } from "../answer.ts"
import { pathOf } from "../errors.ts"
import { openapiDocument } from "../openapi.ts"
import { Problem } from "../problem.ts"
import { ASSETS_PATH, type Assets } from "./assets.ts"
import { CheckerPage } from "./checker/checker-page.tsx"
import { ErrorsPage } from "./errors-page.tsx"
import { type ListsInUse, ListsPage } from "./lists-page.tsx"
import { lookedUp } from "./look-up-section.tsx"
import type { PageAnswers } from "./page-answers.ts"
import { ReasonsPage } from "./reasons-page.tsx"
import { referencePage } from "./reference-page.tsx"
import { TestAddressesPage } from "./test-addresses-page.tsx"

type Needs = {
  readonly answers: Answers
  /** The public base address; asked late, since the port may be picked at the start. */
  readonly baseUrl: () => string
  readonly testDomain: string
  readonly pages: PageAnswers
  readonly files: Assets
  /** What the lists page tells; asked anew for each page, so that a swap shows at once. */
  readonly lists: () => ListsInUse
  /** Null: there is no free checker. */
  readonly freeChecks: FreeChecks | null
}

/** The pages for people and the OpenAPI document. Everything they load comes from this server. */
export function siteRoutes({ answers, baseUrl, testDomain, pages, files, lists, freeChecks }: Needs) {
  const { page, reference, file } = pages
  const document = kept(() => openapiDocument(baseUrl(), testDomain))
  const docs = kept(async () =>
    referencePage(document(), await files.path("scalar.js"), await files.path("reference.js")),
  )
  return new Elysia({ normalize: false })
    .get(ROUTES.home.path, ({ request }) =>
      page(<CheckerPage baseUrl={baseUrl()} testDomain={testDomain} hasChecker={freeChecks !== null} />, request),
    )
    .get(ROUTES.docs.path, async ({ request }) => reference(await docs(), request))
    .get(ROUTES.openapi.path, ({ request }) => answers.json(document(), answers.requestId(request)))
    .get(ROUTES.docsErrors.path, ({ request }) => page(<ErrorsPage baseUrl={baseUrl()} />, request))
    .get(ROUTES.docsReasons.path, ({ request }) => page(<ReasonsPage />, request))
    .get(ROUTES.docsTestAddresses.path, ({ request }) =>
      page(<TestAddressesPage baseUrl={baseUrl()} testDomain={testDomain} />, request),
    )
    .get(ROUTES.docsLists.path, ({ request }) => {
      const inUse = lists()
      const found = lookedUp(request.url, inUse.lookUp)
      return page(<ListsPage lists={inUse} baseUrl={baseUrl()} found={found} />, request)
    })
    .get(`${ASSETS_PATH}:name`, async ({ request }) => {
      const found = await files.file(pathOf(request), request.headers.get("accept-encoding"))
      if (found === null) throw new Problem("not_found", "No such file.")
      return file(found, request)
    })
}

/** Makes a value when it is first asked for, and keeps it. */
function kept<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
