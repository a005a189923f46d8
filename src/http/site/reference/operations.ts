import { capitalized } from "../../../base/text.ts"
import { isJsonObject } from "../../../base/untrusted-text.ts"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import type { JsonSchema } from "../../openapi/json-schemas.ts"
import type { OpenApiDocument } from "../../openapi/openapi-document.ts"
import { exampleJob } from "../../response/example-responses.ts"

/** A parameter, a body or an answer of the document. A part that the document leaves out is empty. */
export type Described = { readonly name: string; readonly description: string; readonly schema: JsonSchema }

/** A parameter of an operation. */
export type OperationParameter = Described & {
  readonly place: string
  readonly isRequired: boolean
  /** A value of it in a working request; undefined: the example leaves it out. */
  readonly example: unknown
}

/** What is sent or answered: its media types, and an example of the first one. Without media types it is empty. */
export type OperationContent = Described & { readonly mediaTypes: readonly string[]; readonly example: unknown }

/** An operation of the document, with what its page shows. */
export type Operation = {
  readonly id: RouteId
  readonly path: string
  /** The path of its page. */
  readonly page: string
  readonly method: string
  readonly summary: string
  readonly description: string
  readonly access: (typeof ROUTES)[RouteId]["access"]
  readonly parameters: readonly OperationParameter[]
  readonly body: OperationContent | null
  /** The answers that are no problem; each is named after its status. */
  readonly answers: readonly OperationContent[]
  readonly problems: readonly { readonly status: string; readonly code: string }[]
  /** The headers of all answers, with the statuses that have them. No statuses: all have it. */
  readonly headers: readonly (Described & { readonly statuses: readonly string[] })[]
}

/** The operations under one tag of the document. */
export type OperationGroup = {
  readonly title: string
  readonly description: string
  readonly operations: readonly Operation[]
}

/** The operations of the document by its tags. */
export function operationGroups(document: OpenApiDocument): readonly OperationGroup[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return document.tags.map(({ name, description }) => ({
    title: GROUP_TITLES[name] ?? capitalized(name),
    description,
    operations: all
      .filter(({ operation }) => listIn(operation, "tags").includes(name))
      .map(({ path, method, operation }) => readOperation(document, path, method, operation)),
  }))
}

/** What references of the document lead to. */
export type DocumentParts = Pick<OpenApiDocument, "components">

/** The part of the document that a reference leads to; any other schema is what it is. */
export function resolved(document: DocumentParts, schema: JsonSchema): JsonSchema {
  const [, , part = "", name = ""] = textIn(schema, "$ref").split("/")
  return part === "" ? schema : (document.components[part]?.[name] ?? {})
}

/** The name of the schema that a reference leads to; empty: it is no reference. */
export const referenceName = (schema: JsonSchema): string => textIn(schema, "$ref").split("/").at(-1) ?? ""

/** A member of an object of the document that is an object itself; without it an empty one. */
export function objectIn(object: JsonSchema, name: string): JsonSchema {
  const value = object[name]
  return isJsonObject(value) ? value : {}
}

/** A member of an object of the document that is a text; without it the empty one. */
export function textIn(object: JsonSchema, name: string): string {
  const value = object[name]
  return typeof value === "string" ? value : ""
}

/** A member of an object of the document that is a list; without it an empty one. */
export function listIn(object: JsonSchema, name: string): readonly unknown[] {
  const value = object[name]
  return Array.isArray(value) ? value : []
}

/** The path of an operation's page: `getCheck` has `/docs/api/get-check`. */
const pagePath = (id: RouteId): string =>
  ROUTES.docsApiOperation.path.replace(
    ":operation",
    id.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`),
  )

/** The paths of the pages of all operations. */
export const OPERATION_PAGES: readonly string[] = (Object.keys(ROUTES) as RouteId[]) // the keys of a table are its type's
  .filter(id => ROUTES[id].kind === "api")
  .map(id => pagePath(id))

const GROUP_TITLES: Readonly<Record<string, string>> = { own_lists: "Block & allow" }

function readOperation(document: OpenApiDocument, path: string, method: string, operation: JsonSchema): Operation {
  // Every operation is named after its route.
  const id = textIn(operation, "operationId") as RouteId
  const responses = Object.entries(objectIn(operation, "responses")).map(([status, response]) => ({
    status,
    response: isJsonObject(response) ? response : {},
  }))
  const problemsOf = (response: JsonSchema): readonly string[] =>
    Object.keys(objectIn(objectIn(objectIn(response, "content"), PROBLEM_TYPE), "examples"))
  return {
    id,
    path,
    page: pagePath(id),
    method,
    summary: textIn(operation, "summary"),
    description: textIn(operation, "description"),
    access: ROUTES[id].access,
    parameters: listIn(operation, "parameters").filter(isJsonObject).map(readParameter),
    body: isJsonObject(operation["requestBody"]) ? readContent(document, "", operation["requestBody"]) : null,
    answers: responses
      .filter(({ response }) => problemsOf(response).length === 0)
      .map(({ status, response }) => readContent(document, status, response)),
    problems: responses.flatMap(({ status, response }) => problemsOf(response).map(code => ({ status, code }))),
    headers: Object.entries(objectIn(document.components, "headers")).flatMap(([name, header]) => {
      const statuses = responses.filter(({ response }) => name in objectIn(response, "headers"))
      if (statuses.length === 0 || !isJsonObject(header)) return []
      const isEverywhere = statuses.length === responses.length
      return [{ ...described(name, header), statuses: isEverywhere ? [] : statuses.map(({ status }) => status) }]
    }),
  }
}

/** The media type of problems (RFC 9457). */
const PROBLEM_TYPE = "application/problem+json"

const described = (name: string, part: JsonSchema): Described => ({
  name,
  description: textIn(part, "description"),
  schema: objectIn(part, "schema"),
})

function readParameter(parameter: JsonSchema): OperationParameter {
  const place = textIn(parameter, "in")
  return {
    ...described(textIn(parameter, "name"), parameter),
    place,
    isRequired: parameter["required"] === true,
    // The id of a job is the only parameter of a path.
    example: place === "path" ? exampleJob().id : parameter["example"],
  }
}

function readContent(document: OpenApiDocument, name: string, part: JsonSchema): OperationContent {
  const content = objectIn(part, "content")
  const mediaTypes = Object.keys(content)
  const first = objectIn(content, mediaTypes[0] ?? "")
  const example = Object.values(objectIn(first, "examples")).filter(isJsonObject)[0]
  return {
    ...described(name, part),
    schema: objectIn(first, "schema"),
    mediaTypes,
    example: example === undefined ? undefined : resolved(document, example)["value"],
  }
}
