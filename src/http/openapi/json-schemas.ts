import type { TObject, TSchema } from "@sinclair/typebox"
import { capitalized } from "../../base/text.ts"
import { isJsonObject } from "../../base/untrusted-text.ts"
import { RulesAnswer, RulesBody } from "../../contract/account-rules-schema.ts"
import { CATEGORIES } from "../../contract/categories.ts"
import { FeedbackBody, FeedbackReceipt } from "../../contract/feedback-schema.ts"
import { JOB_FORMATS, JOB_REASONS, JOB_STATES, LISTED_JOB_STATES } from "../../contract/jobs.ts"
import { CallbackSecretBody, JobBody, JobEstimateBody, JobListBody } from "../../contract/jobs-schema.ts"
import {
  OWN_LIST_FAULTS,
  OwnListAddition,
  OwnListEntriesBody,
  OwnListPage,
  OwnListRemoval,
  OwnListRemovalBody,
} from "../../contract/own-lists-schema.ts"
import { POLICIES } from "../../contract/policies.ts"
import { API_PROBLEM_CODES, PROBLEMS } from "../../contract/problems.ts"
import { REASONS } from "../../contract/reasons.ts"
import { CheckResult, ReducedResult } from "../../contract/result-schema.ts"
import { useOf } from "../../contract/schema-parts.ts"
import { BatchBody, BatchResult, CheckBody, Health, ProblemBody, RetryProblemBody } from "../../contract/schemas.ts"
import { Usage } from "../../contract/usage-schema.ts"

/** A JSON Schema (draft 2020-12, as in OpenAPI 3.1) or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** The named schemas of the document: answers with all that they refer to, then bodies of requests. */
export function namedSchemas(): Readonly<Record<string, JsonSchema>> {
  const bodies = [CheckBody, FeedbackBody].map(body => [nameOf(body), alternatives(body)] as const)
  return Object.fromEntries([
    ...[...namedIn(ANSWERS)].map(([name, schema]) => [name, namedSchema(name, schema)] as const),
    ...bodies.flatMap(([name, bodiesByMember]) => [
      [name, { oneOf: Object.keys(bodiesByMember).map(reference) }] as const,
      ...Object.entries(bodiesByMember),
    ]),
  ])
}

/** The members of an object's schema as JSON Schema. */
export const membersOf = (schema: TObject): readonly (readonly [string, JsonSchema])[] =>
  Object.entries(schema.properties).map(([name, member]) => [name, innerSchema(member)])

/** The members as optional parameters of a query. */
export const queryParameters = (schema: TObject): readonly JsonSchema[] =>
  membersOf(schema).map(([name, { description, ...rest }]) => ({
    name,
    in: "query",
    required: false,
    description,
    schema: rest,
  }))

/**
 * Turns a TypeBox schema into plain JSON Schema. A schema with a name inside another one becomes a `$ref`, a union of literals an
 * `enum`, a union of strings or numbers with null a list of types, and a record `additionalProperties`. Objects stay open: a
 * later version may send more members.
 */
export function toJsonSchema(schema: TSchema): JsonSchema {
  const { anyOf, patternProperties, $id: _, additionalProperties: __, ...rest } = cleanKeywords(schema)
  if (isSchemas(anyOf)) return { ...unionSchema(anyOf), ...rest }
  const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
  return patterns.length === 1 ? { ...rest, additionalProperties: patterns[0] } : rest
}

/** A reference to a schema with a name. */
export const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const ANSWERS = [
  CheckResult,
  ReducedResult,
  BatchResult,
  FeedbackReceipt,
  Usage,
  RulesAnswer,
  RulesBody,
  JobBody,
  JobListBody,
  JobEstimateBody,
  CallbackSecretBody,
  OwnListPage,
  OwnListAddition,
  OwnListRemoval,
  Health,
  ProblemBody,
  RetryProblemBody,
  BatchBody,
  OwnListEntriesBody,
  OwnListRemovalBody,
  FeedbackBody,
  CheckBody,
] as const

type NamedEnum = {
  readonly description: string
  /** The description of each value; absent where the values need none. */
  readonly meanings?: Readonly<Record<string, string>>
  /** A later version may have more values. */
  readonly isOpen?: true
}

/** What the document says of the enumerations that are tables in `contract/`. */
const NAMED_ENUMS: Readonly<Record<string, NamedEnum>> = {
  Category: { description: "The kind of an address, a domain or a URL.", meanings: descriptionsOf(CATEGORIES) },
  Recommendation: { description: "What to do with the address, least severe first." },
  Policy: { description: "How strict the recommendation is.", meanings: descriptionsOf(POLICIES) },
  Reason: {
    description:
      "The reason of a verdict. The codes are in order of precedence. /docs/reasons explains each. A later version may have more.",
    meanings: descriptionsOf(REASONS),
    isOpen: true,
  },
  JobState: {
    description: "Where a job stands.",
    meanings: Object.fromEntries(LISTED_JOB_STATES.map(state => [state, JOB_STATES[state].description])),
  },
  JobReason: {
    description: "Why a job is `stopped` or `failed`.",
    meanings: descriptionsOf(JOB_REASONS),
  },
  JobFormat: { description: "The format of a list.", meanings: descriptionsOf(JOB_FORMATS) },
  OwnListEntryKind: {
    description: "What an entry is about: one address, a domain with its subdomains, or its subdomains only.",
  },
  OwnListFault: { description: "Why a sent entry changes nothing.", meanings: descriptionsOf(OWN_LIST_FAULTS) },
  ProblemCode: {
    description: "Why a request was refused. /docs/errors explains each code. A later version may have more.",
    meanings: Object.fromEntries(API_PROBLEM_CODES.map(code => [code, PROBLEMS[code].cause])),
    isOpen: true,
  },
}

function descriptionsOf(
  table: Readonly<Record<string, { readonly description: string }>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([word, { description }]) => [word, description]))
}

function namedSchema(name: string, schema: TSchema): JsonSchema {
  const { description = null, meanings = null, isOpen = false } = NAMED_ENUMS[name] ?? {}
  const { enum: values, ...rest } = toJsonSchema(schema)
  return {
    ...rest,
    ...(description === null ? {} : { description }),
    ...(values === undefined ? {} : isOpen ? openEnum(values) : { enum: values }),
    ...(meanings === null ? {} : { "x-enumDescriptions": meanings }),
  }
}

/** The known values, and any other string. */
const openEnum = (values: unknown): JsonSchema => ({
  type: undefined,
  anyOf: [{ type: "string", enum: values }, { type: "string" }],
})

/**
 * A body with exactly one of the members that name the subject, as one schema for each of them: generators make types of these
 * that hold what the server demands.
 */
function alternatives(body: TObject): Readonly<Record<string, JsonSchema>> {
  const all = Object.keys(body.properties)
  const subjects = all.filter(member => SUBJECT_MEMBERS.includes(member))
  const { properties, required = [], examples, ...rest } = toJsonSchema(body)
  return Object.fromEntries(
    subjects.map(subject => {
      const members = membersOf(body).filter(([name]) => name === subject || !subjects.includes(name))
      const needed = [subject, ...(Array.isArray(required) ? required : [])]
      return [
        `${nameOf(body).replace("Body", "")}${capitalized(subject)}Body`,
        { ...rest, required: needed, properties: Object.fromEntries(members) },
      ]
    }),
  )
}

const SUBJECT_MEMBERS: readonly string[] = ["email", "domain", "url"]
const nameOf = (schema: TSchema): string => schema.$id ?? ""

/** The schemas with a name in these schemas, each after the one that refers to it. */
function namedIn(schemas: readonly TSchema[], found = new Map<string, TSchema>()): ReadonlyMap<string, TSchema> {
  for (const schema of schemas) {
    const name = nameOf(schema)
    if (name !== "" && !found.has(name) && !isAlternatives(schema)) found.set(name, schema)
    namedIn(partsOf(schema), found)
  }
  return found
}

const isAlternatives = (schema: TSchema): boolean => schema === CheckBody || schema === FeedbackBody

/** The schemas inside of a schema. */
function partsOf({ properties = {}, patternProperties = {}, items, anyOf = [] }: TSchema): readonly TSchema[] {
  return [properties, patternProperties, anyOf, items === undefined ? {} : { items }]
    .flatMap(parts => Object.values(parts))
    .filter(isSchema)
}

/** Converts the schemas inside a schema. TypeBox's symbols are dropped, because they are not entries. */
function cleanKeywords(schema: TSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]: [string, unknown]) => {
      if (keyword === "properties" || keyword === "patternProperties") return [keyword, cleanProperties(value)]
      if (keyword === "items") return [keyword, isSchema(value) ? innerSchema(value) : value]
      if (keyword === "anyOf" && Array.isArray(value)) return [keyword, value.filter(isSchema).map(innerSchema)]
      return [keyword, value]
    }),
  )
}

function cleanProperties(members: unknown): JsonSchema {
  const entries: [string, unknown][] = isJsonObject(members) ? Object.entries(members) : []
  return Object.fromEntries(entries.map(([name, member]) => [name, isSchema(member) ? innerSchema(member) : member]))
}

/** A schema inside another one: a reference if it has a name, with what is said of this use. */
function innerSchema(schema: TSchema): JsonSchema {
  const name = nameOf(schema)
  return name === "" ? toJsonSchema(schema) : { ...reference(name), ...useOf(schema) }
}

/** Simplifies a union of literals, or of a plain type and null. Any other stays an `anyOf`. */
function unionSchema(members: readonly JsonSchema[]): JsonSchema {
  const literals = members.filter(member => "const" in member)
  if (literals.length === members.length)
    return { type: literals[0]?.["type"], enum: literals.map(literal => literal["const"]) }
  const [some, ...others] = members.filter(member => member["type"] !== "null")
  if (some === undefined || others.length > 0 || members.length !== 2 || "enum" in some) return { anyOf: members }
  if (typeof some["type"] !== "string") return { anyOf: [some, { type: "null" }] }
  return { ...some, type: [some["type"], "null"] }
}

const isSchema = (value: unknown): value is TSchema => isJsonObject(value)
const isSchemas = (value: unknown): value is readonly JsonSchema[] => Array.isArray(value)
