import { CATEGORY_NAMES } from "../../contract/categories.ts"
import { JOB_LIMITS } from "../../contract/jobs.ts"
import { LIMITS } from "../../contract/limits.ts"
import { POLICY_DEFAULT } from "../../contract/policies.ts"
import { API_PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import { API_VERSION, DOCUMENT_REVISION, ROUTES, type RouteId } from "../../contract/routes.ts"
import { CheckBody } from "../../contract/schemas.ts"
import { TEST_ADDRESSES } from "../../contract/test-addresses.ts"
import {
  exampleBatch,
  exampleBatchResult,
  exampleFeedbackReceipt,
  exampleHealth,
  exampleProblem,
  exampleReducedResult,
  exampleResult,
  exampleUsage,
  problemHeaders,
} from "../response/example-responses.ts"
import { rulesAnswer } from "../v1/rules.ts"
import { JOB_OPERATIONS } from "./job-operations.ts"
import { type JsonSchema, membersOf, namedSchemas, reference } from "./json-schemas.ts"
import { OWN_LIST_OPERATIONS } from "./own-list-operations.ts"
import {
  HEADER_OBJECTS,
  headerReferences,
  IDEMPOTENCY_KEY,
  jsonContent,
  KEY_HEADERS,
  ONCE_HEADERS,
} from "./response-parts.ts"

/** The server that the examples are made for. */
type ExampleContext = { readonly baseUrl: string; readonly testDomain: string }

type ApiRouteId = { [R in RouteId]: (typeof ROUTES)[R]["kind"] extends "api" ? R : never }[RouteId]

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly [member: string]: unknown }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
}

/** The API's OpenAPI document, derived from the tables of `contract/`. `testDomain` is in lower-case A-labels. */
export function openapiDocument(baseUrl: string, testDomain: string): OpenApiDocument {
  const context = { baseUrl, testDomain }
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const id of API_ROUTE_IDS) {
    const { path, method } = ROUTES[id]
    const template = path.replace(/:(\w+)/g, "{$1}")
    paths[template] = { ...paths[template], [method.toLowerCase()]: operationObject(id, context) }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "mailkind",
      description: DESCRIPTION,
      version: API_VERSION,
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The guide of this server", url: `${baseUrl}${ROUTES.docsGuide.path}` },
      "x-revision": DOCUMENT_REVISION,
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: namedSchemas(),
      examples: Object.fromEntries(OPERATION_PROBLEMS.map(code => [code, problemExample(code, context)])),
      headers: HEADER_OBJECTS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

const ROUTE_IDS = Object.keys(ROUTES) as RouteId[] // the keys of a table are its type's
const API_ROUTE_IDS = ROUTE_IDS.filter(isApi)

/** The problems of the operations. `not_found` and `method_not_allowed` are about paths and methods outside of the document. */
const OPERATION_PROBLEMS = API_PROBLEM_CODES.filter(code =>
  API_ROUTE_IDS.some(id => ROUTES[id].problems.some(own => own === code)),
)

function isApi(id: RouteId): id is ApiRouteId {
  return ROUTES[id].kind === "api"
}

const DESCRIPTION = `Checks an email address, a domain or a website URL: business, personal, disposable, relay, education, government, invalid or unknown. Every error is a problem (RFC 9457) with a stable code. A path that is not in this document gets \`not_found\`. A method that its path does not have gets \`method_not_allowed\` and an Allow header. HEAD is answered wherever GET is, OPTIONS on every path. What is not HTTP, or has a head of more than ${LIMITS.requestHeadBytesMax} bytes or more than ${LIMITS.requestHeadersMax} headers, is refused before the API sees it: with 400, 431 or 505 and no body. A method that HTTP does not know closes the connection.`

const TAGS = {
  check: `One verdict for one address, domain or website URL. An address has at most ${LIMITS.addressBytesMax} bytes, its local part ${LIMITS.localPartBytesMax}, a domain ${LIMITS.domainBytesMax}, and a URL ${LIMITS.urlLengthMax} characters. Prefer POST: an address stays out of URLs and logs, and a long website address fits, which takes up to twelve bytes a character in a query. Addresses under the test domain need no key.`,
  jobs: `Whole lists, of any number of rows: upload one, watch it, download it with verdicts. Rows that cannot be read, or are longer than ${JOB_LIMITS.rowBytesMax} bytes, are \`invalid\` and never end a job. One list of an account is checked at a time. When today's units are used up, the job stops and continues by itself.`,
  own_lists: `Your block and allow lists: they decide for your account alone, before any list of the server. Both together have at most ${LIMITS.ownListEntriesMax} entries. Addresses are stored only as hashes. The requests cost no units.`,
  feedback: "Reports of wrong verdicts. An accepted report corrects the domain's verdict for everyone.",
  usage: "The limits and the usage of an account.",
  rules: "What an account recommends instead of the policy.",
  health: "The state of the server. It needs no key.",
} as const

type OperationSpec = {
  readonly tag: string
  readonly summary: string
  /** Parameters or body of the request. */
  readonly request: (context: ExampleContext) => JsonSchema
  /** The successful responses, by status. */
  readonly responses: (context: ExampleContext) => Readonly<Record<number, JsonSchema>>
}

const READY_PARAMETER: JsonSchema = {
  name: "ready",
  in: "query",
  schema: { type: "string", enum: ["1"] },
  description: "For load balancers: 503 also while this server cannot reach the database and another server can.",
}

/** What `ROUTES` does not have. An API route without a row does not compile. */
const OPERATIONS: { readonly [R in ApiRouteId]: OperationSpec } = {
  getCheck: {
    tag: "check",
    summary: "Check an address by its URL",
    request: ({ testDomain }) => ({ parameters: queryParameterObjects(testDomain) }),
    responses: checkResponses,
  },
  postCheck: {
    tag: "check",
    summary: "Check an address",
    request: ({ testDomain }) => ({ requestBody: checkBody(testDomain) }),
    responses: checkResponses,
  },
  postBatch: {
    tag: "check",
    summary: "Check many",
    request: ({ testDomain }) => ({ requestBody: batchBody(testDomain) }),
    responses: ({ testDomain }) => ({
      200: {
        description: BATCH_DESCRIPTION,
        headers: headerReferences([], KEY_HEADERS),
        content: jsonContent("BatchResult", { two: { summary: "Two items", value: exampleBatchResult(testDomain) } }),
      },
    }),
  },
  postFeedback: {
    tag: "feedback",
    summary: "Report a wrong verdict",
    request: () => ({ parameters: [IDEMPOTENCY_KEY], requestBody: feedbackBody() }),
    responses: () => ({
      202: {
        description: `The report is stored. It is a \`duplicate\` if the account sent the same within ${LIMITS.feedbackDuplicateDays} days.`,
        headers: headerReferences([], ONCE_HEADERS),
        content: jsonContent("FeedbackReceipt", {
          received: { summary: "A new report", value: exampleFeedbackReceipt() },
        }),
      },
    }),
  },
  getUsage: {
    tag: "usage",
    summary: "See your usage",
    request: () => ({}),
    responses: () => ({
      200: {
        description: "The account's limits, today's usage, and the days before.",
        headers: headerReferences([], KEY_HEADERS),
        content: jsonContent("Usage", { free: { summary: "An account of the lowest tier", value: exampleUsage() } }),
      },
    }),
  },
  getRules: {
    tag: "rules",
    summary: "See the rules",
    request: () => ({}),
    responses: rulesResponses,
  },
  putRules: {
    tag: "rules",
    summary: "Replace the rules",
    request: () => ({
      requestBody: {
        required: true,
        description: `At most ${LIMITS.rulesBodyBytesMax} bytes. \`rules\` is given once, and a rule that is written twice with different recommendations is refused.`,
        content: jsonContent("RulesBody", {
          two: { summary: "Two rules", value: { rules: EXAMPLE_RULES } },
          none: { summary: "No rules", value: { rules: {} } },
        }),
      },
    }),
    responses: rulesResponses,
  },
  ...JOB_OPERATIONS,
  ...OWN_LIST_OPERATIONS,
  getHealth: {
    tag: "health",
    summary: "See the server's health",
    request: () => ({ parameters: [READY_PARAMETER] }),
    responses: () => {
      const content = jsonContent("Health", { ok: { summary: "All parts work", value: exampleHealth() } })
      return {
        200: { description: "The server answers.", headers: headerReferences(), content },
        503: {
          description: "The server is shutting down, or it is not ready, if that was asked. The body is the same.",
          headers: headerReferences(),
          content,
        },
      }
    },
  },
}

function operationObject(id: ApiRouteId, context: ExampleContext): JsonSchema {
  const { description, access, problems } = ROUTES[id]
  const { tag, summary, request: input, responses } = OPERATIONS[id]
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: SECURITY[access],
    ...input(context),
    responses: { ...responses(context), ...problemResponses(problems, access === "anybody" ? [] : KEY_HEADERS) },
  }
}

function queryParameterObjects(testDomain: string): readonly JsonSchema[] {
  const examples: Readonly<Record<string, string>> = { email: `business@${testDomain}` }
  return membersOf(CheckBody).map(([name, { description, ...schema }]) => {
    const example = examples[name] === undefined ? {} : { example: examples[name] }
    return { name, in: "query", required: false, description, schema, ...example }
  })
}

function checkBody(testDomain: string): JsonSchema {
  const examples = Object.entries(TEST_ADDRESSES).map(([localPart, { description }]) => [
    localPart,
    { summary: description, value: { email: `${localPart}@${testDomain}`, policy: POLICY_DEFAULT } },
  ])
  return {
    required: true,
    description: `Exactly one of \`email\`, \`domain\` and \`url\`. At most ${LIMITS.bodyBytesMax} bytes. Unknown members are ignored.`,
    content: jsonContent("CheckBody", Object.fromEntries(examples)),
  }
}

function checkResponses({ testDomain }: ExampleContext): Readonly<Record<number, JsonSchema>> {
  const examples = CATEGORY_NAMES.map(category => [
    category,
    { summary: TEST_ADDRESSES[category].description, value: exampleResult(category, testDomain) },
  ])
  const description =
    "The verdict. A secret key and a test address without a key get `CheckResult`, which has the member `email`. A publishable key gets `ReducedResult`. An invalid address gets a verdict too, not a problem."
  const reduced = [
    "publishable_key",
    { summary: "What a publishable key gets.", value: exampleReducedResult("business", testDomain) },
  ]
  const schema = { anyOf: ["CheckResult", "ReducedResult"].map(reference) }
  const content = { "application/json": { schema, examples: Object.fromEntries([...examples, reduced]) } }
  return { 200: { description, headers: headerReferences([], KEY_HEADERS), content } }
}

/** An account that wants no personal mailboxes, and looks at new domains. */
const EXAMPLE_RULES = { personal: "block", new_domain: "review" } as const

function rulesResponses(): Readonly<Record<number, JsonSchema>> {
  return {
    200: {
      description: "All rules of the account. They are in force within seconds everywhere.",
      headers: headerReferences([], KEY_HEADERS),
      content: jsonContent("RulesAnswer", { two: { summary: "Two rules", value: rulesAnswer(EXAMPLE_RULES) } }),
    },
  }
}

const BATCH_DESCRIPTION =
  "One verdict for each item. An empty, too long or unreadable item is `invalid` and does not affect the others. Each domain is looked up once. If it does not answer in time, its verdict is degraded and the others are complete. Each item costs one unit. Test addresses are free, and one for a problem is `unknown` here."

const batchBody = (testDomain: string): JsonSchema => ({
  required: true,
  description: `1 to ${LIMITS.batchItemsMax} items of at most ${LIMITS.batchItemLengthMax} characters each. The number of items is checked first. At most ${LIMITS.batchBodyBytesMax} bytes. Unknown fields are ignored.`,
  content: jsonContent("BatchBody", { two: { summary: "Two test addresses", value: exampleBatch(testDomain) } }),
})

const feedbackBody = (): JsonSchema => ({
  required: true,
  description: `Exactly one of \`email\` and \`domain\`. At most ${LIMITS.bodyBytesMax} bytes.`,
  content: jsonContent("FeedbackBody", {
    domain: { summary: "A domain", value: { domain: "acme.com", expected_category: "business" } },
  }),
})

/** The problem responses by status. Codes with the same status share one. `headers`: those of every refusal of a key. */
function problemResponses(
  codes: readonly ProblemCode[],
  headers: readonly string[],
): Readonly<Record<number, JsonSchema>> {
  const byStatus = Map.groupBy(codes, code => PROBLEMS[code].status)
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, problemResponse(group, headers)]))
}

function problemResponse(codes: readonly ProblemCode[], headers: readonly string[]): JsonSchema {
  const schema = reference(codes.every(hasRetryAfter) ? "RetryProblem" : "Problem")
  const examples = Object.fromEntries(codes.map(code => [code, { $ref: `#/components/examples/${code}` }]))
  return {
    description: codes.map(code => `\`${code}\`: ${PROBLEMS[code].cause} ${PROBLEMS[code].action}`).join("\n\n"),
    headers: headerReferences(codes, headers),
    content: { "application/problem+json": { schema, examples } },
  }
}

const hasRetryAfter = (code: ProblemCode): boolean => "Retry-After" in problemHeaders(code)

const problemExample = (code: ProblemCode, { baseUrl }: ExampleContext): JsonSchema => ({
  summary: PROBLEMS[code].cause,
  value: exampleProblem(code, baseUrl),
})

/** Security requirements by `access`. The empty requirement is for test addresses, which need no key. */
const SECURITY = {
  anybody: [],
  "secret key": [{ bearer: [] }, { apiKey: [] }],
  "key or test address": [{ bearer: [] }, { apiKey: [] }, {}],
} as const

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "The key in `Authorization: Bearer <API_KEY>` (preferred)." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "The key in `X-API-Key: <API_KEY>`." },
} as const
