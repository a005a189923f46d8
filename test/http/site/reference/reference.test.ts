import { describe, expect, test } from "bun:test"
import Ajv from "ajv/dist/2020"
import { POLICY_NAMES } from "../../../../src/contract/policies.ts"
import { PROBLEMS } from "../../../../src/contract/problems.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { TEST_ADDRESSES } from "../../../../src/contract/test-addresses.ts"
import { openapiDocument } from "../../../../src/http/openapi/openapi-document.ts"
import { exampleResult } from "../../../../src/http/response/example-responses.ts"
import { pageTitle } from "../../../../src/http/site/docs/guide.ts"
import { operationGroups } from "../../../../src/http/site/reference/operations.ts"
import { readableNumbers } from "../../../../src/http/site/reference/schema-tree.tsx"
import { attributesIn, BASE_URL, openSite, unescapeHtml } from "../../../support/open-site.ts"
import { sampleIn } from "../docs/sample-in.ts"

const ask = openSite()
const textOf = async (path: string): Promise<string> => (await ask(path)).text()
const plain = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, "")).replaceAll(/\s+/g, " ")
const asText = (text: string): string =>
  readableNumbers(text)
    .replaceAll(/\/docs\/[a-z-]+(#[a-z-]+)?/g, pageTitle)
    .replaceAll("`", "")
    .replaceAll(/\s+/g, " ")
    .trim()

type Node = { readonly [name: string]: unknown }

const document: Node = JSON.parse(JSON.stringify(openapiDocument(BASE_URL, "mailkind.test")))
const OPERATIONS = operationGroups(openapiDocument(BASE_URL, "mailkind.test")).flatMap(({ operations }) => operations)
const objectOf = (value: unknown): Node => (typeof value === "object" && value !== null ? { ...value } : {})
const at = (...names: readonly string[]): Node => names.reduce((node: Node, name) => objectOf(node[name]), document)

/** Every part of a value, with the schemas that it refers to. */
function* partsOf(value: unknown, seen = new Set<string>()): Generator<Node> {
  if (typeof value !== "object" || value === null) return
  const node: Node = { ...value }
  yield node
  for (const inner of Object.values(node)) yield* partsOf(inner, seen)
  const { $ref } = node
  if (typeof $ref !== "string" || seen.has($ref)) return
  seen.add($ref)
  yield* partsOf(at(...$ref.slice(2).split("/")), seen)
}

const operationAt = (path: string, method: string): Node => at("paths", path, method.toLowerCase())

/** The names of members and the values that a part of the document has. */
const namesIn = ({ properties, enum: values }: Node): readonly string[] => [
  ...Object.keys(objectOf(properties)),
  ...(Array.isArray(values) ? values.map(String) : []),
]

/** What a part of the document says of itself, if it is an operation, a parameter or an object, and of its members. */
const wordsIn = (part: Node): readonly string[] =>
  "properties" in part || "in" in part || "operationId" in part
    ? [part, ...Object.values(objectOf(part["properties"]))].map(each =>
        asText(String(objectOf(each)["description"] ?? "")),
      )
    : []

test("the index links every operation of the document, and so does the page of each", async () => {
  const ids = Object.values(at("paths")).flatMap(item =>
    Object.values(objectOf(item)).map(each => objectOf(each)["operationId"]),
  )
  expect(OPERATIONS.map(({ id }) => String(id)).toSorted()).toEqual(ids.map(String).toSorted())
  const pages = OPERATIONS.map(({ page }) => page)
  expect(new Set(pages).size).toBe(ids.length)
  for (const path of [ROUTES.docs.path, ...pages])
    expect(attributesIn(await textOf(path), "href").filter(to => pages.includes(to))).toEqual(
      path === ROUTES.docs.path ? [...pages, ...pages] : pages,
    )
})

test("every schema of the document is on the page of an operation", () => {
  const used = new Set<unknown>()
  for (const { path, method } of OPERATIONS) for (const { $ref } of partsOf(operationAt(path, method))) used.add($ref)
  // The alternatives of a body are shown as one, by the schema that names them.
  const names = Object.keys(at("components", "schemas")).filter(name => !used.has(`#/components/schemas/${name}`))
  expect(names).toEqual([])
})

describe.each(OPERATIONS.map(operation => [`${operation.method} ${operation.path}`, operation] as const))(
  "%s",
  (_, operation) => {
    const { page, path, method } = operation
    const node = operationAt(path, method)

    test("has a page with its path, what it does, every member with its words, every value and every problem", async () => {
      const html = await textOf(page)
      const text = plain(html)
      expect(text).toContain(`${method} ${path}`)
      const parts = [...partsOf(node)]
      const names = parts.flatMap(namesIn).filter(name => !html.includes(`>${name}</code>`))
      const words = parts.flatMap(wordsIn).filter(all => !text.includes(all))
      expect({ names, words }).toEqual({ names: [], words: [] })
      const problems = ROUTES[operation.id].problems.map(code => `${PROBLEMS[code].status} ${code}`)
      expect(operation.problems.map(({ status, code }) => `${status} ${code}`).toSorted()).toEqual(problems.toSorted())
      for (const { code } of operation.problems) expect(html).toContain(`href="${ROUTES.docsErrors.path}#${code}"`)
    })

    test("is light, has one title of its own, and no id twice; its links lead somewhere", async () => {
      const html = await textOf(page)
      expect(Bun.gzipSync(html).length).toBeLessThan(15_000)
      expect(html).toContain(`<title>${method} ${path} · mailkind API</title>`)
      expect(html).toContain(`<meta property="og:url" content="${BASE_URL}${page}"`)
      const ids = attributesIn(html, "id")
      expect(ids).toEqual([...new Set(ids)])
      for (const to of attributesIn(html, "href")) if (to.startsWith("#")) expect(ids).toContain(to.slice(1))
    })

    test("shows a request in every language, and an answer that its own schema allows", async () => {
      const html = await textOf(page)
      expect(html.match(/<figcaption>Request<\/figcaption>/g)).toHaveLength(5)
      expect(sampleIn(html, "Request")).toContain(`${BASE_URL}${path.split("{")[0]}`)
      const answers = operation.answers.filter(({ name }) => sampleIn(html, `Answer ${name}`) !== null)
      if (answers.length === 0) return expect(["deleteJob", "getJobResults"]).toContain(operation.id)
      const ajv = new Ajv({ strict: false, validateFormats: false })
      ajv.addSchema({ $id: "document", ...document })
      for (const { name } of answers) {
        const pointer = `#/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method.toLowerCase()}/responses/${name}/content/application~1json/schema`
        const validate = ajv.compile({ $ref: `document${pointer}` })
        const shown = JSON.parse(sampleIn(html, `Answer ${name}`) ?? "")
        expect({ errors: validate(shown) ? [] : validate.errors }).toEqual({ errors: [] })
      }
    })
  },
)

test("a check shows the verdict of the test address and the policy that were chosen, as the API gives it", async () => {
  for (const page of ["/docs/api/get-check", "/docs/api/post-check"])
    for (const address of Object.keys(TEST_ADDRESSES))
      for (const policy of POLICY_NAMES) {
        const html = await textOf(`${page}?address=${address}&policy=${policy}`)
        expect(JSON.parse(sampleIn(html, "Answer 200") ?? "")).toEqual(exampleResult(address, "mailkind.test", policy))
        expect(sampleIn(html, "Request")).toContain(`${address}@mailkind.test`)
        expect(html).toContain(`<option value="${address}" selected>`)
      }
})

test("an upload shows the answer that it gets, and that of a dry run folded after it; its parameters say once where they stand", async () => {
  const html = await textOf("/docs/api/post-job")
  const places = ["Answer 202</figcaption>", "<details", "Answer 200</figcaption>", "Query parameters", ">Headers</h2>"]
  const found = places.map(part => html.indexOf(part, html.indexOf("beside-text")))
  expect(found).toEqual(found.toSorted((one, other) => one - other))
  expect(found).not.toContain(-1)
  expect(plain(html)).not.toContain("in the query")
})

test.each([
  "?address=%3Cscript%3E&policy=%22x",
  "?address=constructor&policy=__proto__",
  "?address=&policy=",
  "?address=error-429",
])("the choice %s is the first one", async query => {
  const own = await textOf("/docs/api/post-check")
  expect(await textOf(`/docs/api/post-check${query}`)).toBe(own)
})

test.each(["nothing", "getCheck", "get-check.md", "constructor", "%2e%2e", "get-check%2f"])(
  "no page is at /docs/api/%s",
  async name => expect((await ask(`/docs/api/${name}`)).status).toBe(404),
)

test("an executable without the script fails on the pages of operations alone", async () => {
  const bare = openSite({ asset: () => null })
  expect((await bare("/docs/api/get-check")).status).toBe(500)
  expect((await bare(ROUTES.docs.path)).status).toBe(200)
})

test("/docs/json is the OpenAPI document of this server, as the docs plugin serves it", async () => {
  const response = await ask(ROUTES.openapi.path)
  expect(response.headers.get("content-type")).toBe("application/json")
  expect(await response.json()).toEqual(document)
})
