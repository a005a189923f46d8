/** @jsxImportSource preact */
import { lazy } from "../../../base/lazy.ts"
import { lazyPromise } from "../../../base/single-flight.ts"
import { POLICY_DEFAULT, POLICY_NAMES } from "../../../contract/policies.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TEST_ADDRESSES } from "../../../contract/test-addresses.ts"
import { type OpenApiDocument, openapiDocument } from "../../openapi/openapi-document.ts"
import { exampleDomain } from "../../response/example-responses.ts"
import { jsonDocument } from "../../response/json-responses.ts"
import { noSuchPath } from "../../response/problem-response.ts"
import { handlers } from "../../router.ts"
import { queryParameter } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import type { ExampleChoice } from "./example-pair.tsx"
import { OperationPage, ReferenceIndex, referenceFacts } from "./reference-pages.tsx"

type ReferenceSite = Pick<SiteContext, "responses" | "baseUrl" | "testDomain" | "assets"> & {
  readonly guards: Pick<SiteContext["guards"], "allowAnonymous">
}

/** The API reference, made from the OpenAPI document, and that document as JSON. */
export function referenceRoutes({ responses, baseUrl, testDomain, assets, guards }: ReferenceSite) {
  const domain = exampleDomain(testDomain)
  const facts = lazy(() => referenceFacts(openapiDocument(baseUrl(), domain), domain))
  const json = lazyPromise(async () => jsonDocument(await servedDocument(facts().document)))
  return handlers({
    docs: exchange => guards.allowAnonymous(exchange, () => <ReferenceIndex {...facts()} />),
    docsApiOperation: async exchange => {
      const path = ROUTES.docsApiOperation.path.replace(":operation", exchange.params["operation"] ?? "")
      const operation = facts()
        .groups.flatMap(({ operations }) => operations)
        .find(({ page }) => page === path)
      if (operation === undefined) throw noSuchPath()
      const scriptPath = await assets.path("reference.js")
      const choice = choiceIn(exchange.request.url)
      return await guards.allowAnonymous(exchange, () => (
        <OperationPage {...facts()} operation={operation} choice={choice} scriptPath={scriptPath} />
      ))
    },
    openapi: async exchange => responses.document(await json(), exchange.request, exchange.id),
  })
}

/** The example that a URL asks for. What is no test address and no policy is the first of each. */
function choiceIn(url: string): ExampleChoice {
  const address = queryParameter(url, "address")
  const policy = queryParameter(url, "policy")
  return {
    address: Object.hasOwn(TEST_ADDRESSES, address) ? address : "business",
    policy: POLICY_NAMES.find(name => name === policy) ?? POLICY_DEFAULT,
  }
}

/** The document as the docs plugin serves it. The plugin runs apart from our routes, from which it would add to the document. */
async function servedDocument(document: OpenApiDocument): Promise<unknown> {
  // With the schema library that it brings, the plugin takes as long to load as a tenth of a start.
  const { swagger } = await import("@elysiajs/swagger")
  const plugin = swagger({ path: ROUTES.docs.path, documentation: document as object })
  return await (await plugin.handle(new Request(`http://localhost${ROUTES.openapi.path}`))).json()
}
