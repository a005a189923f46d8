import { expect, test } from "bun:test"
import { join } from "node:path"
import { FormatRegistry, type TSchema, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { RulesAnswer, RulesBody } from "../../../src/contract/account-rules-schema.ts"
import { CATEGORY_NAMES } from "../../../src/contract/categories.ts"
import { FeedbackBody, FeedbackReceipt } from "../../../src/contract/feedback-schema.ts"
import { CallbackSecretBody, JobBody, JobEstimateBody, JobListBody } from "../../../src/contract/jobs-schema.ts"
import {
  OwnListAddition,
  OwnListEntriesBody,
  OwnListPage,
  OwnListRemoval,
  OwnListRemovalBody,
} from "../../../src/contract/own-lists-schema.ts"
import { POLICY_NAMES, RECOMMENDATIONS } from "../../../src/contract/policies.ts"
import { API_PROBLEM_CODES, PROBLEMS } from "../../../src/contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../../src/contract/reasons.ts"
import { CheckResult, PolicySchema, ReducedResult } from "../../../src/contract/result-schema.ts"
import { API_VERSION, ROUTES } from "../../../src/contract/routes.ts"
import { describedAs } from "../../../src/contract/schema-parts.ts"
import {
  BatchBody,
  BatchResult,
  CheckBody,
  Health,
  ProblemBody,
  RetryProblemBody,
} from "../../../src/contract/schemas.ts"
import { TEST_ADDRESSES } from "../../../src/contract/test-addresses.ts"
import { Usage } from "../../../src/contract/usage-schema.ts"
import { toJsonSchema } from "../../../src/http/openapi/json-schemas.ts"
import { openapiDocument } from "../../../src/http/openapi/openapi-document.ts"

for (const format of ["date", "date-time"])
  if (!FormatRegistry.Has(format)) FormatRegistry.Set(format, text => !Number.isNaN(Date.parse(text)))

const GOLDEN = join(import.meta.dir, "../../golden/openapi.json")

type Node = { readonly [key: string]: unknown }

// A document is JSON, so what is read back has no other values than JSON's.
const document: Node = JSON.parse(JSON.stringify(openapiDocument("http://127.0.0.1:8080", "mailkind.test")))
const apiRoutes = Object.entries(ROUTES).filter(([, route]) => route.kind === "api")

/** What stands at the path of keys; it fails the test when nothing does. */
function at(...keys: readonly (string | number)[]): Node {
  const found = keys.reduce<unknown>(
    (node, key) => (typeof node === "object" && node !== null ? Reflect.get(node, String(key)) : undefined),
    document,
  )
  if (typeof found !== "object" || found === null) throw new Error(`nothing stands at ${keys.join(" ")}`)
  return { ...found }
}

/** A part of the document that is an object; any other counts as an empty one. */
const objectOf = (value: unknown): Node => (typeof value === "object" && value !== null ? { ...value } : {})

const resolve = (node: Node): Node => {
  const { $ref } = node
  return typeof $ref === "string" ? resolve(at(...$ref.slice(2).split("/"))) : node
}

/** Every object in the document with its path. */
function* nodes(node: unknown, path: string): Generator<readonly [string, Node]> {
  if (typeof node !== "object" || node === null) return
  yield [path, { ...node }]
  for (const [key, value] of Object.entries(node)) yield* nodes(value, `${path}/${key}`)
}

/** A path as the document has it. */
const template = (path: string): string => path.replace(/:(\w+)/g, "{$1}")

const operationOf = ({ method, path }: { readonly method: string; readonly path: string }): Node =>
  at("paths", template(path), method.toLowerCase())

test("the document is the golden file; UPDATE_GOLDEN=1 rewrites it", async () => {
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (Bun.env["UPDATE_GOLDEN"] === "1") await Bun.write(GOLDEN, text)
  expect(await Bun.file(GOLDEN).text()).toBe(text)
})

test("the document has the interface's version and the server's own address", () => {
  expect(at("info")).toMatchObject({ title: "mailkind", version: API_VERSION })
  expect(document["servers"]).toEqual([{ url: "http://127.0.0.1:8080" }])
})

test("every route of the API is an operation, and no operation is anything else", () => {
  const operations = Object.entries(at("paths")).flatMap(([path, item]) =>
    Object.keys(objectOf(item)).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(operations.sort()).toEqual(apiRoutes.map(([, { method, path }]) => `${method} ${template(path)}`).sort())
})

test("every operation bears the id of its route, which is unique", () => {
  const ids = apiRoutes.map(([, route]) => operationOf(route)["operationId"])
  expect(ids).toEqual(apiRoutes.map(([id]) => id))
  expect(new Set(ids).size).toBe(ids.length)
})

test("the only parameter of a path is the id of a job, which its operations describe", () => {
  for (const [path, item] of Object.entries(at("paths"))) {
    expect(path.replace("{id}", "")).not.toMatch(/[{}:]/)
    for (const operation of Object.values(objectOf(item))) {
      const { parameters = [] } = objectOf(operation)
      const inPath = (parameters as Node[]).filter(parameter => parameter["in"] === "path") // an array by the document's own schema
      expect(inPath.map(({ name }) => name)).toEqual(path.includes("{id}") ? ["id"] : [])
    }
  }
})

test("every problem of a route has an example under its status, and no status is made up", () => {
  for (const [, route] of apiRoutes) {
    const responses = resolve(objectOf(operationOf(route)["responses"]))
    // Health tells with 503 that the server stops: that is an answer, and no problem.
    const isAnswer = (status: string): boolean => route.path === ROUTES.getHealth.path && status === "503"
    const refusals = Object.keys(responses).filter(status => Number(status) >= 400 && !isAnswer(status))
    const statuses = new Set(route.problems.map(code => String(PROBLEMS[code].status)))
    expect(new Set(refusals)).toEqual(statuses)
    for (const code of route.problems) {
      const examples = at(
        ...["paths", template(route.path), route.method.toLowerCase(), "responses", PROBLEMS[code].status],
        ...["content", "application/problem+json", "examples"],
      )
      expect(Object.keys(examples)).toContain(code)
    }
  }
})

test("every problem code is in the document, with an example that is a problem body of its own status", () => {
  expect(at("components", "schemas", "ProblemCode")["anyOf"]).toEqual([
    { type: "string", enum: API_PROBLEM_CODES },
    { type: "string" },
  ])
  const codes = new Set(apiRoutes.flatMap(([, { problems }]) => problems))
  expect(Object.keys(at("components", "examples")).sort()).toEqual([...codes].sort())
  for (const code of codes) {
    const { value } = at("components", "examples", code)
    expect(faults(ProblemBody, value)).toEqual([])
    expect(value).toMatchObject({
      code,
      status: PROBLEMS[code].status,
      type: `http://127.0.0.1:8080/docs/errors#${code}`,
    })
  }
})

test("every word of the tables is in the document with its meaning", () => {
  expect(at("components", "schemas", "Reason")["anyOf"]).toEqual([
    { type: "string", enum: REASON_NAMES },
    { type: "string" },
  ])
  for (const reason of REASON_NAMES) {
    expect(at("components", "schemas", "Reason", "x-enumDescriptions")[reason]).toBe(REASONS[reason].description)
  }
  expect(at("components", "schemas", "Category")["enum"]).toEqual(CATEGORY_NAMES)
  expect(at("components", "schemas", "Policy")["enum"]).toEqual(POLICY_NAMES)
  expect(at("components", "schemas", "Recommendation")["enum"]).toEqual([...RECOMMENDATIONS])
})

test("every reference resolves", () => {
  const references = [...nodes(document, "#")].filter(([, { $ref }]) => $ref !== undefined)
  expect(references.length).toBeGreaterThan(10)
  for (const [, node] of references) expect(Object.keys(resolve(node))).not.toContain("$ref")
})

test("every example of an answer satisfies the schema of the answer, and of a body that of the body", () => {
  const checked = new Map<string, number>()
  for (const [path, node] of nodes(at("paths"), "")) {
    if (!path.endsWith("/application~json") && !path.endsWith("/application/json")) continue
    const { $ref, anyOf } = objectOf(node["schema"])
    const names = (Array.isArray(anyOf) ? anyOf.map(one => objectOf(one)["$ref"]) : [$ref]).map(nameOf)
    for (const example of Object.values(objectOf(node["examples"]))) {
      const { value } = resolve(objectOf(example))
      const fitting = names.filter(name => faults(BODIES[name] ?? t.Never(), value).length === 0)
      expect([path, fitting.length]).toEqual([path, 1])
      for (const name of fitting) checked.set(name, (checked.get(name) ?? 0) + 1)
    }
  }
  expect(checked.get("CheckResult")).toBe(2 * CATEGORY_NAMES.length)
  expect(checked.get("CheckBody")).toBe(Object.keys(TEST_ADDRESSES).length)
  expect(checked.get("Health")).toBe(2)
  expect(checked.get("ReducedResult")).toBe(2)
  for (const name of ["Usage", "FeedbackBody", "FeedbackReceipt", "BatchBody", "BatchResult", "JobList", "JobEstimate"])
    expect([name, checked.get(name)]).toEqual([name, 1])
})

const BODIES: Readonly<Record<string, TSchema>> = {
  CheckResult,
  ReducedResult,
  CheckBody,
  FeedbackBody,
  FeedbackReceipt,
  BatchBody,
  BatchResult,
  Usage,
  Health,
  Job: JobBody,
  JobList: JobListBody,
  JobEstimate: JobEstimateBody,
  CallbackSecret: CallbackSecretBody,
  OwnListPage,
  OwnListAddition,
  OwnListRemoval,
  OwnListEntriesBody,
  OwnListRemovalBody,
  RulesAnswer,
  RulesBody,
}
const nameOf = (reference: unknown): string => String(reference).replace("#/components/schemas/", "")

test("a query has the members of a body, each optional", () => {
  const { parameters } = operationOf(ROUTES.getCheck)
  expect(parameters).toMatchObject([
    { name: "email", in: "query", required: false, schema: { type: "string" } },
    { name: "domain", schema: { type: "string" } },
    { name: "url", schema: { type: "string", maxLength: 2048 } },
    { name: "policy", schema: { $ref: "#/components/schemas/Policy" } },
    { name: "deep", schema: { type: "boolean" } },
    { name: "workspace", schema: { type: "boolean" } },
    { name: "mail", schema: { type: "boolean" } },
  ])
})

test.each([
  ["CheckBody", ["email", "domain", "url"], ["policy", "deep", "workspace", "mail"], []],
  ["FeedbackBody", ["email", "domain"], ["expected_category", "comment"], ["expected_category"]],
])("%s has exactly one subject: it is one of a schema for each", (name, subjects, others, required) => {
  const schemas = subjects.map(
    subject => `${name.replace("Body", "")}${subject[0]?.toUpperCase()}${subject.slice(1)}Body`,
  )
  expect(at("components", "schemas", name)).toEqual({
    oneOf: schemas.map(schema => ({ $ref: `#/components/schemas/${schema}` })),
  })
  for (const [index, schema] of schemas.entries()) {
    const subject = subjects[index] ?? ""
    const { required: needed, properties } = at("components", "schemas", schema)
    expect(needed).toEqual([subject, ...required])
    expect(Object.keys(objectOf(properties)).sort()).toEqual([subject, ...others].sort())
  }
})

/** Every schema in the document, with its path: named ones, and those of contents, headers and parameters. */
const schemas = [...nodes(document, "#")].filter(([path, node]) => {
  const isPlace = /\/(?:schemas\/\w+|schema|items|properties\/\w+|additionalProperties|(?:anyOf|oneOf)\/\d+)$/.test(
    path,
  )
  return (
    isPlace && !path.includes("/example") && ("type" in node || "anyOf" in node || "oneOf" in node || "$ref" in node)
  )
})

test("generators read every schema: no default, no closed object, no enum with null, and a name for every object", () => {
  expect(schemas.length).toBeGreaterThan(150)
  for (const [path, schema] of schemas) {
    expect([path, Object.keys(schema)]).toEqual([path, expect.not.arrayContaining(["default"])])
    expect([path, typeof schema["additionalProperties"]]).toEqual([path, expect.not.stringMatching(/boolean/)])
    const { enum: values } = schema
    expect([path, Array.isArray(values) && values.includes(null)]).toEqual([path, false])
    const isNamed = /^#\/components\/schemas\/\w+$/.test(path)
    if ("properties" in schema) expect([path, isNamed]).toEqual([path, true])
  }
})

test("problems that say when to try again have the seconds as a required member", () => {
  const { properties, required } = at("components", "schemas", "RetryProblem")
  expect(required).toContain("retry_after")
  expect(Object.keys(objectOf(properties))).toEqual(
    Object.keys(objectOf(at("components", "schemas", "Problem")["properties"])),
  )
  for (const status of [429, 503]) {
    expect(at("paths", "/v1/check", "post", "responses", status, "content", "application/problem+json")).toMatchObject({
      schema: { $ref: "#/components/schemas/RetryProblem" },
    })
  }
  for (const code of API_PROBLEM_CODES.filter(one => [429, 503].includes(PROBLEMS[one].status)))
    expect([code, faults(RetryProblemBody, at("components", "examples", code)["value"])]).toEqual([code, []])
})

test("every answer to a key names the headers with what is left", () => {
  for (const [, route] of apiRoutes.filter(([, { access }]) => access !== "anybody")) {
    for (const response of Object.values(objectOf(operationOf(route)["responses"]))) {
      const headers = Object.keys(objectOf(objectOf(response)["headers"]))
      expect(headers).toEqual(expect.arrayContaining(["RateLimit", "RateLimit-Policy", "Warning", "Link"]))
    }
  }
})

test("a batch has at most 100 items of 2048 characters, and a result of a check for each", () => {
  expect(at("components", "schemas", "BatchBody")).toMatchObject({
    required: ["items"],
    properties: { items: { type: "array", minItems: 1, maxItems: 100, items: { type: "string", maxLength: 2048 } } },
  })
  expect(at("components", "schemas", "BatchResult")).toMatchObject({
    required: ["results", "took_ms", "request_id"],
    properties: { results: { type: "array", items: { $ref: "#/components/schemas/BatchItemResult" } } },
  })
  expect(operationOf(ROUTES.postBatch)["security"]).toEqual([{ bearer: [] }, { apiKey: [] }])
})

test("a check takes a key in either header or none, and health takes none", () => {
  expect(operationOf(ROUTES.postCheck)["security"]).toEqual([{ bearer: [] }, { apiKey: [] }, {}])
  expect(operationOf(ROUTES.getHealth)["security"]).toEqual([])
  expect(at("components", "securitySchemes", "bearer")).toMatchObject({ type: "http", scheme: "bearer" })
  expect(at("components", "securitySchemes", "apiKey")).toMatchObject({ in: "header", name: "X-API-Key" })
})

test("every answer names the request, a 401 its scheme, and a 429 and a 503 the wait", () => {
  for (const [, route] of apiRoutes) {
    for (const response of Object.values(objectOf(operationOf(route)["responses"]))) {
      expect(Object.keys(objectOf(objectOf(response)["headers"]))).toContain("X-Request-Id")
    }
  }
  const headersOf = (status: number) => Object.keys(at("paths", "/v1/check", "post", "responses", status, "headers"))
  expect(headersOf(401)).toContain("WWW-Authenticate")
  for (const status of [429, 503]) expect(headersOf(status)).toContain("Retry-After")
})

test("the document's description is plain text, so that the docs plugin may write it into an attribute", () => {
  expect(at("info")["description"]).toMatch(/^[^"<>&]+$/)
})

test("a schema is written as plain JSON Schema", () => {
  const literal = t.Union([t.Literal("a"), t.Literal("b")], { description: "One." })
  expect(toJsonSchema(literal)).toEqual({ type: "string", enum: ["a", "b"], description: "One." })
  expect(toJsonSchema(t.Union([t.String({ maxLength: 3 }), t.Null()]))).toEqual({
    type: ["string", "null"],
    maxLength: 3,
  })
  expect(toJsonSchema(t.Union([literal, t.Null()]))).toEqual({
    anyOf: [{ type: "string", enum: ["a", "b"], description: "One." }, { type: "null" }],
  })
  expect(toJsonSchema(t.Record(t.String(), t.Integer()))).toEqual({
    type: "object",
    additionalProperties: { type: "integer" },
  })
  expect(toJsonSchema(t.Array(t.Union([t.String(), t.Integer()])))).toEqual({
    ...{ type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
  })
  const named = t.Object({ a: t.Optional(t.Boolean()) }, { $id: "Named", additionalProperties: false })
  expect(toJsonSchema(named)).toEqual({ type: "object", properties: { a: { type: "boolean" } } })
  expect(toJsonSchema(t.Array(named))).toEqual({ type: "array", items: { $ref: "#/components/schemas/Named" } })
  expect(toJsonSchema(t.Object({ a: describedAs(PolicySchema, "How.") }))).toEqual({
    type: "object",
    required: ["a"],
    properties: { a: { $ref: "#/components/schemas/Policy", description: "How." } },
  })
})

/** What breaks the schema. Formats are no part of this: TypeBox knows none unless told. */
function faults(schema: Parameters<typeof Value.Errors>[0], value: unknown): readonly string[] {
  return [...Value.Errors(schema, value)]
    .filter(({ message }) => !/unknown format/i.test(message))
    .map(({ path, message }) => `${path}: ${message}`)
}

test("only reasons and problem codes are open sets of values, as the page about upgrades promises", async () => {
  const schemas = Object.entries(Object(document["components"]).schemas)
  const open = schemas.filter(([, schema]) => [Object(schema).anyOf ?? []].flat().some(each => "enum" in Object(each)))
  expect(open.map(([name]) => name).sort()).toEqual(["ProblemCode", "Reason"])
  const page = await Bun.file(join(import.meta.dir, "../../../src/http/site/docs/pages/upgrades.md")).text()
  expect(page.match(/^\| values of `\w+`/gm)).toEqual(["| values of `reasons`", "| values of `code`"])
})
