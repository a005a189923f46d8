/** @jsxImportSource preact */

import { GZIP_TYPE } from "../../../base/gzip.ts"
import { lazy } from "../../../base/lazy.ts"
import { lazyPromise } from "../../../base/single-flight.ts"
import { pathOf } from "../../request/request-url.ts"
import { binaryDocument, textDocument } from "../../response/json-responses.ts"
import { Problem } from "../../response/problem.ts"
import { noSuchPath } from "../../response/problem-response.ts"
import { handlers } from "../../router.ts"
import { pythonClient } from "../docs/python-client.ts"
import { pythonWheel, WHEEL_NAME } from "../docs/python-wheel.ts"
import type { SiteContext } from "../site-context.ts"
import { formScriptRoutes } from "./form-script-routes.ts"
import type { RenderHomePage } from "./home-page.tsx"
import { siteFileRoutes } from "./site-files.ts"

type PublicSite = Pick<
  SiteContext,
  "responses" | "baseUrl" | "testDomain" | "pages" | "assets" | "tiers" | "pricing" | "securityContacts" | "clock"
> & {
  readonly homePage: RenderHomePage
  readonly signIn: Pick<SiteContext["signIn"], "isSignUpOpen">
  readonly guards: Pick<SiteContext["guards"], "allowAnonymous">
}

/** The home page, the assets and the files at fixed paths. */
export function publicRoutes(site: PublicSite) {
  const { responses, baseUrl, pages, assets, guards } = site
  const { asset } = pages
  const python = lazy(() => textDocument(pythonClient(baseUrl()), "text/x-python; charset=utf-8"))
  const wheel = lazy(() => binaryDocument(pythonWheel(pythonClient(baseUrl())), "application/zip"))
  const client = lazyPromise(async () => {
    const bytes = await assets.clientPackage()
    if (bytes !== null) return binaryDocument(bytes, GZIP_TYPE)
    throw new Problem("not_found", "This checkout has not made the package. Run `bun run build:client` in it.")
  })
  return handlers({
    home: exchange => guards.allowAnonymous(exchange, () => site.homePage()),
    pythonClient: exchange => responses.document(python(), exchange.request, exchange.id),
    pythonWheel: exchange => {
      if (exchange.params.wheel !== WHEEL_NAME) throw noSuchPath()
      return responses.document(wheel(), exchange.request, exchange.id)
    },
    clientPackage: async exchange => responses.document(await client(), exchange.request, exchange.id),
    docsAsset: async exchange => {
      const file = await assets.file(pathOf(exchange.request), exchange.request.headers.get("accept-encoding"))
      if (file === null) throw new Problem("not_found", "This file does not exist.")
      return asset(file, exchange)
    },
    ...formScriptRoutes(pages),
    ...siteFileRoutes(site),
  })
}
