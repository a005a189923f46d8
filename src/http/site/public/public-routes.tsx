/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import type { FreeChecks } from "../../../customers/free-checks/free-checks.ts"
import { openapiDocument } from "../../openapi/openapi-document.ts"
import { pathOf } from "../../request/request-url.ts"
import type { JsonResponses } from "../../response/json-responses.ts"
import { Problem } from "../../response/problem.ts"
import { ASSETS_PATH, type Assets } from "../assets.ts"
import type { PageResponses } from "../page-responses.ts"
import { apiReferenceHtml } from "./api-reference-page.tsx"
import { HomePage } from "./home-page.tsx"

type PublicRoutesDeps = {
  readonly responses: JsonResponses
  /** The public base address; asked late, since the port may be picked at the start. */
  readonly baseUrl: () => string
  readonly testDomain: string
  readonly pages: PageResponses
  readonly files: Assets
  /** Null: there is no free checker. */
  readonly freeChecks: FreeChecks | null
}

/** The pages for people and the OpenAPI document. Everything they load comes from this server. */
export function publicRoutes({ responses, baseUrl, testDomain, pages, files, freeChecks }: PublicRoutesDeps) {
  const { render, apiReference, asset } = pages
  const document = lazy(() => openapiDocument(baseUrl(), testDomain))
  const docs = lazy(async () =>
    apiReferenceHtml(document(), await files.path("scalar.js"), await files.path("reference.js")),
  )
  return new Elysia({ normalize: false })
    .get(ROUTES.home.path, ({ request }) =>
      render(<HomePage baseUrl={baseUrl()} testDomain={testDomain} hasChecker={freeChecks !== null} />, request),
    )
    .get(ROUTES.docs.path, async ({ request }) => apiReference(await docs(), request))
    .get(ROUTES.openapi.path, ({ request }) => responses.json(document(), responses.requestId(request)))
    .get(`${ASSETS_PATH}:name`, async ({ request }) => {
      const found = await files.file(pathOf(request), request.headers.get("accept-encoding"))
      if (found === null) throw new Problem("not_found", "No such file.")
      return asset(found, request)
    })
}

/** Makes a value when it is first asked for, and keeps it. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
