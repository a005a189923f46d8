import { CATEGORY_NAMES } from "../contract/categories.ts"
import { LIMITS } from "../contract/limits.ts"
import { POLICY_DEFAULT } from "../contract/policies.ts"
import { API_PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../contract/problems.ts"
import { API_VERSION, ROUTES, type RouteId } from "../contract/routes.ts"
import { CheckBody } from "../contract/schemas.ts"
import { TEST_ADDRESSES } from "../contract/test-addresses.ts"
import {
  exampleBatch,
  exampleBatchResult,
  exampleHealth,
  exampleProblem,
  exampleReceipt,
  exampleReduced,
  exampleResult,
  exampleUsage,
} from "./openapi-examples.ts"
import { HEADERS, headers, KEYED_HEADERS, SECURITY, SECURITY_SCHEMES } from "./openapi-headers.ts"
import { inputMembers, type JsonSchema, namedSchemas } from "./openapi-schemas.ts"

/** What the examples of a document are made for. */
type Place = { readonly baseUrl: string; readonly testDomain: string }

type ApiRouteId = { [R in RouteId]: (typeof ROUTES)[R]["kind"] extends "api" ? R : never }[RouteId]

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = {
  readonly openapi: string
  readonly info: { readonly title: string; readonly description: string; readonly version: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
}

/** The API's OpenAPI document, written from the tables of `contract/`. `testDomain` is A-labels, lower case. */
export function openapiDocument(baseUrl: string, testDomain: string): OpenApiDocument {
  const place = { baseUrl, testDomain }
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const id of API_ROUTE_IDS) {
    const { path, method } = ROUTES[id]
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(id, place) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "mailkind", description: DESCRIPTION, version: API_VERSION },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: namedSchemas(),
      responses: unroutedResponses(),
      examples: Object.fromEntries(API_PROBLEM_CODES.map(code => [code, problemExample(code, place)])),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

const ROUTE_IDS = Object.keys(ROUTES) as RouteId[] // the keys of a table are its type's
const API_ROUTE_IDS = ROUTE_IDS.filter(isApi)

function isApi(id: RouteId): id is ApiRouteId {
  return ROUTES[id].kind === "api"
}

const DESCRIPTION =
  "Tells what an email address, a domain or a website URL is: business, personal, disposable, relay, education, government, invalid or unknown. Every refusal is a problem (RFC 9457) with a stable code. A path that is not in this document is refused with not_found, a method that its path does not take with method_not_allowed and an Allow header. HEAD is answered wherever GET is, OPTIONS on every path."

const TAGS = {
  check: `One verdict for one address, domain or website URL. An address has at most ${LIMITS.addressOctetsMax} octets, its local part ${LIMITS.localPartOctetsMax}, a domain ${LIMITS.domainOctetsMax}, a URL ${LIMITS.urlLengthMax} characters. Addresses under the test domain need no key.`,
  feedback: "Reports of wrong verdicts. An accepted one corrects the verdict of the domain for everybody.",
  usage: "What an account may do, and what it did.",
  health: "Whether the server is well. It needs no key.",
} as const

type Operation = {
  readonly tag: keyof typeof TAGS
  readonly summary: string
  /** What a request brings. */
  readonly asks: (place: Place) => JsonSchema
  /** The answers that are no problems, by status. */
  readonly answers: (place: Place) => Readonly<Record<number, JsonSchema>>
}

/** What the tables do not say of each route. A route of the API without a row does not compile. */
const OPERATIONS: { readonly [R in ApiRouteId]: Operation } = {
  getCheck: {
    tag: "check",
    summary: "Check by query",
    asks: ({ testDomain }) => ({ parameters: parameters(testDomain) }),
    answers: checkAnswers,
  },
  postCheck: {
    tag: "check",
    summary: "Check by body",
    asks: ({ testDomain }) => ({ requestBody: checkBody(testDomain) }),
    answers: checkAnswers,
  },
  postBatch: {
    tag: "check",
    summary: "Check many",
    asks: ({ testDomain }) => ({ requestBody: batchBody(testDomain) }),
    answers: ({ testDomain }) => ({
      200: {
        description: BATCH_ANSWER,
        headers: headers([], KEYED_HEADERS),
        content: json("BatchResult", { two: { summary: "Two items", value: exampleBatchResult(testDomain) } }),
      },
    }),
  },
  postFeedback: {
    tag: "feedback",
    summary: "Report a wrong verdict",
    asks: () => ({ requestBody: feedbackBody() }),
    answers: () => ({
      202: {
        description: `The report is kept; \`duplicate\` when the account sent the same within ${LIMITS.feedbackDuplicateDays} days.`,
        headers: headers([], KEYED_HEADERS),
        content: json("FeedbackReceipt", { received: { summary: "A new report", value: exampleReceipt() } }),
      },
    }),
  },
  getUsage: {
    tag: "usage",
    summary: "Usage",
    asks: () => ({}),
    answers: () => ({
      200: {
        description: "The account's limits, its day, and the days before.",
        headers: headers([], KEYED_HEADERS),
        content: json("Usage", { free: { summary: "An account of the lowest tier", value: exampleUsage() } }),
      },
    }),
  },
  getHealth: {
    tag: "health",
    summary: "Health",
    asks: () => ({}),
    answers: () => {
      const content = json("Health", { ok: { summary: "All is well", value: exampleHealth() } })
      return {
        200: { description: "The server answers.", headers: headers(), content },
        503: { description: "The server is shutting down; the body is the same.", headers: headers(), content },
      }
    },
  },
}

function operation(id: ApiRouteId, place: Place): JsonSchema {
  const { says, asks, problems } = ROUTES[id]
  const { tag, summary, asks: input, answers } = OPERATIONS[id]
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: says,
    security: SECURITY[asks],
    ...input(place),
    responses: { ...answers(place), ...refusals(problems) },
  }
}

function parameters(testDomain: string): readonly JsonSchema[] {
  const examples: Readonly<Record<string, string>> = { email: `business@${testDomain}` }
  return inputMembers(CheckBody).map(([name, { description, ...schema }]) => {
    const example = examples[name] === undefined ? {} : { example: examples[name] }
    const note = schema.type === "boolean" ? " `1` and `0` are read too." : ""
    return { name, in: "query", required: false, description: `${description}${note}`, schema, ...example }
  })
}

function checkBody(testDomain: string): JsonSchema {
  const examples = Object.entries(TEST_ADDRESSES).map(([localPart, { says }]) => [
    localPart,
    { summary: says, value: { email: `${localPart}@${testDomain}`, policy: POLICY_DEFAULT } },
  ])
  return {
    required: true,
    description: `Exactly one of \`email\`, \`domain\` and \`url\`. At most ${LIMITS.bodyBytesMax} octets; members that are not listed are ignored.`,
    content: json("CheckBody", Object.fromEntries(examples)),
  }
}

function checkAnswers({ testDomain }: Place): Readonly<Record<number, JsonSchema>> {
  const examples = CATEGORY_NAMES.map(category => [
    category,
    { summary: TEST_ADDRESSES[category].says, value: exampleResult(category, testDomain) },
  ])
  const description =
    "The verdict; the reduced result for a publishable key. An address that is simply invalid is a verdict too, not a problem."
  const reduced = [
    "publishable_key",
    { summary: "What a publishable key gets.", value: exampleReduced("business", testDomain) },
  ]
  const schema = { oneOf: ["CheckResult", "ReducedResult"].map(name => ({ $ref: `#/components/schemas/${name}` })) }
  const content = { "application/json": { schema, examples: Object.fromEntries([...examples, reduced]) } }
  return { 200: { description, headers: headers([], KEYED_HEADERS), content } }
}

const BATCH_ANSWER =
  "A verdict an item. An item that is empty, too long or does not parse is `invalid`, and costs the others nothing. Each domain is looked up once, however many items name it; the verdict of one that does not answer in time is degraded, and the others are whole. An item costs a unit, a test address nothing; one that stands for a problem is `unknown` here."

const batchBody = (testDomain: string): JsonSchema => ({
  required: true,
  description: `1 to ${LIMITS.batchItemsMax} items, counted before anything else is looked at, each of at most ${LIMITS.batchItemLengthMax} characters. At most ${LIMITS.batchBodyBytesMax} octets; members that are not listed are ignored.`,
  content: json("BatchBody", { two: { summary: "Two test addresses", value: exampleBatch(testDomain) } }),
})

const feedbackBody = (): JsonSchema => ({
  required: true,
  description: `Exactly one of \`email\` and \`domain\`. At most ${LIMITS.bodyBytesMax} octets.`,
  content: json("FeedbackBody", {
    domain: { summary: "A domain", value: { domain: "acme.com", expected_category: "business" } },
  }),
})

const json = (schema: string, examples: JsonSchema): JsonSchema => ({
  "application/json": { schema: { $ref: `#/components/schemas/${schema}` }, examples },
})

/** The problems by status; several codes of one status share its response. */
function refusals(codes: readonly ProblemCode[]): Readonly<Record<number, JsonSchema>> {
  const byStatus = Map.groupBy(codes, code => PROBLEMS[code].status)
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, refusal(group)]))
}

function refusal(codes: readonly ProblemCode[]): JsonSchema {
  const schema = { $ref: "#/components/schemas/Problem" }
  const examples = Object.fromEntries(codes.map(code => [code, { $ref: `#/components/examples/${code}` }]))
  return {
    description: codes.map(code => `\`${code}\`: ${PROBLEMS[code].cause} Retry: ${PROBLEMS[code].retry}.`).join("\n\n"),
    headers: headers(codes),
    content: { "application/problem+json": { schema, examples } },
  }
}

/** Two refusals belong to no operation: they are about paths and methods that are not in the document. */
const unroutedResponses = (): Readonly<Record<string, JsonSchema>> => ({
  not_found: refusal(["not_found"]),
  method_not_allowed: refusal(["method_not_allowed"]),
})

const problemExample = (code: ProblemCode, { baseUrl }: Place): JsonSchema => ({
  summary: PROBLEMS[code].cause,
  value: exampleProblem(code, baseUrl),
})
