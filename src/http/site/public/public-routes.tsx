/** @jsxImportSource preact */

import { Elysia } from "elysia"
import { lazy } from "../../../base/lazy.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { openapiDocument } from "../../openapi/openapi-document.ts"
import { pathOf } from "../../request/request-url.ts"
import { jsonDocument, textDocument } from "../../response/json-responses.ts"
import { Problem } from "../../response/problem.ts"
import { pythonClient } from "../docs/python-client.ts"
import { ASSETS_PATH } from "../hashed-path.ts"
import type { SiteContext } from "../site-context.ts"
import { apiReferenceHtml } from "./api-reference-page.tsx"
import { formScriptRoutes } from "./form-script-routes.ts"
import { HomePage, homeFacts } from "./home-page.tsx"
import { siteFileRoutes } from "./site-files.ts"

type PublicSite = Pick<
  SiteContext,
  | "responses"
  | "baseUrl"
  | "testDomain"
  | "pages"
  | "assets"
  | "freeChecks"
  | "tiers"
  | "defaultTier"
  | "guide"
  | "pricing"
  | "securityContacts"
  | "clock"
>

/** The home page, the API reference, the OpenAPI document, the assets and the files at fixed paths. */
export function publicRoutes(site: PublicSite) {
  const { responses, baseUrl, testDomain, pages, assets } = site
  const { render, apiReference, asset } = pages
  const openapi = lazy(() => openapiDocument(baseUrl(), testDomain))
  const document = lazy(() => jsonDocument(openapi()))
  const python = lazy(() => textDocument(pythonClient(baseUrl()), "text/x-python; charset=utf-8"))
  const reference = lazy(async () =>
    apiReferenceHtml(openapi(), await assets.path("scalar.js"), await assets.path("reference.js")),
  )
  return new Elysia({ normalize: false })
    .get(ROUTES.home.path, ({ request }) => render(<HomePage facts={homeFacts(site)} />, request))
    .get(ROUTES.docs.path, async ({ request }) => apiReference(await reference(), request))
    .get(ROUTES.openapi.path, ({ request }) => responses.document(document(), request, responses.requestId(request)))
    .get(ROUTES.pythonClient.path, ({ request }) => responses.document(python(), request, responses.requestId(request)))
    .get(`${ASSETS_PATH}:name`, async ({ request }) => {
      const file = await assets.file(pathOf(request), request.headers.get("accept-encoding"))
      if (file === null) throw new Problem("not_found", "This file does not exist.")
      return asset(file, request)
    })
    .use(formScriptRoutes(pages))
    .use(siteFileRoutes(site))
}
