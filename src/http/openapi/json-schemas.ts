import type { TObject, TSchema } from "@sinclair/typebox"
import { isJsonObject } from "../../base/untrusted-text.ts"
import { CATEGORIES, CATEGORY_NAMES } from "../../contract/categories.ts"
import { FeedbackBody, FeedbackReceipt } from "../../contract/feedback-schema.ts"
import { POLICIES, POLICY_DEFAULT, POLICY_NAMES, RECOMMENDATIONS } from "../../contract/policies.ts"
import { API_PROBLEM_CODES, PROBLEMS } from "../../contract/problems.ts"
import { REASON_NAMES, REASONS } from "../../contract/reasons.ts"
import {
  BatchBody,
  BatchResult,
  CheckBody,
  CheckResult,
  Health,
  ProblemBody,
  ReducedResult,
} from "../../contract/schemas.ts"
import { Usage } from "../../contract/usage-schema.ts"

/** A JSON Schema (draft 2020-12, as in OpenAPI 3.1) or a part of one. */
export type JsonSchema = {
  readonly type?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly [keyword: string]: unknown
}

/** The named schemas of the document, in its order. */
export function namedSchemas(): Readonly<Record<string, JsonSchema>> {
  const bodies = Object.entries(NAMED_BODIES).map(([name, schema]) => [name, toJsonSchema(schema)] as const)
  const words = NAMED_ENUMS.map(({ name, description, values, meanings: means }) => {
    const meanings = means === undefined ? {} : { "x-enumDescriptions": means }
    return [name, { type: "string", description: description, enum: [...values], ...meanings }] as const
  })
  const inputs = Object.entries({ CheckBody, BatchBody }).map(([name, schema]) => {
    return [name, { ...toJsonSchema(schema), properties: Object.fromEntries(inputMembers(schema)) }] as const
  })
  return Object.fromEntries([...bodies, ...words, ...inputs])
}

/** The defaults of optional input members. */
const MEMBER_DEFAULTS = { policy: POLICY_DEFAULT, deep: false, workspace: true } as const satisfies Partial<CheckBody>

/** The members of a check's or a batch's input, with `default` where they have one. */
export function inputMembers(schema: TObject): readonly (readonly [string, JsonSchema])[] {
  const { properties } = toJsonSchema(schema)
  const members: [string, unknown][] = isJsonObject(properties) ? Object.entries(properties) : []
  const defaults: Readonly<Record<string, unknown>> = MEMBER_DEFAULTS
  return members.filter(hasSchema).map(([name, member]) => {
    return [name, Object.hasOwn(defaults, name) ? { ...member, default: defaults[name] } : member]
  })
}

const hasSchema = (entry: [string, unknown]): entry is [string, JsonSchema] => isJsonObject(entry[1])

/**
 * Turns a TypeBox schema into plain JSON Schema. A union of literals becomes an `enum`, a union with null a list of types, a
 * record `additionalProperties`, and an enumeration with a name a `$ref`.
 */
export function toJsonSchema(schema: TSchema): JsonSchema {
  const { anyOf, patternProperties, $id: _, ...rest } = cleanKeywords(schema)
  if (isSchemas(anyOf)) return { ...unionSchema(anyOf), ...rest }
  const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
  return patterns.length === 1 ? { ...rest, additionalProperties: patterns[0] } : rest
}

const NAMED_BODIES = {
  CheckBody,
  CheckResult,
  ReducedResult,
  BatchBody,
  BatchResult,
  FeedbackBody,
  FeedbackReceipt,
  Usage,
  Health,
  Problem: ProblemBody,
} as const satisfies Record<string, TSchema>

type NamedEnum = {
  readonly name: string
  readonly description: string
  readonly values: readonly string[]
  /** The description of each value; absent where the values need none. */
  readonly meanings?: Readonly<Record<string, string>>
}

/** The enumerations that are tables in `contract/`. */
const NAMED_ENUMS: readonly NamedEnum[] = [
  {
    name: "Category",
    description: "The kind of an address, a domain or a URL.",
    values: CATEGORY_NAMES,
    meanings: descriptionsOf(CATEGORIES),
  },
  {
    name: "Recommendation",
    description: "What to do with the address, least severe first.",
    values: RECOMMENDATIONS,
  },
  {
    name: "Policy",
    description: "How strict the recommendation is.",
    values: POLICY_NAMES,
    meanings: descriptionsOf(POLICIES),
  },
  {
    name: "Reason",
    description: "The reason of a verdict. The codes are in order of precedence. /docs/reasons explains each.",
    values: REASON_NAMES,
    meanings: descriptionsOf(REASONS),
  },
  {
    name: "ProblemCode",
    description: "Why a request was refused. /docs/errors explains each code.",
    values: API_PROBLEM_CODES,
    meanings: Object.fromEntries(API_PROBLEM_CODES.map(code => [code, PROBLEMS[code].cause])),
  },
]

function descriptionsOf(
  table: Readonly<Record<string, { readonly description: string }>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([word, { description }]) => [word, description]))
}

/** Converts the schemas inside a schema. TypeBox's symbols are dropped, because they are not entries. */
function cleanKeywords(schema: TSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]: [string, unknown]) => {
      if (keyword === "properties" || keyword === "patternProperties") return [keyword, cleanProperties(value)]
      if (keyword === "items")
        return [keyword, isSchema(value) ? (schemaReference(value) ?? toJsonSchema(value)) : value]
      if (keyword === "anyOf" && Array.isArray(value)) return [keyword, value.filter(isSchema).map(toJsonSchema)]
      return [keyword, value]
    }),
  )
}

/** A reference to a body that has a name; null: it has none. */
function schemaReference(schema: TSchema): JsonSchema | null {
  const [name] = Object.entries(NAMED_BODIES).find(([, body]) => body === schema) ?? []
  return name === undefined ? null : { $ref: `#/components/schemas/${name}` }
}

function cleanProperties(members: unknown): JsonSchema {
  const entries: [string, unknown][] = isJsonObject(members) ? Object.entries(members) : []
  return Object.fromEntries(entries.map(([name, member]) => [name, isSchema(member) ? toJsonSchema(member) : member]))
}

/** Simplifies a union of literals, or of one schema and null. Any other stays an `anyOf`. */
function unionSchema(members: readonly JsonSchema[]): JsonSchema {
  const literals = members.filter(member => "const" in member)
  if (literals.length === members.length) return enumSchema(literals)
  const [some, ...others] = members.filter(member => member.type !== "null")
  if (some === undefined || others.length > 0 || members.length !== 2) return { anyOf: members }
  if (typeof some.type !== "string") return { anyOf: [some, { type: "null" }] }
  const values = Array.isArray(some.enum) ? { enum: [...some.enum, null] } : {}
  return { ...some, type: [some.type, "null"], ...values }
}

function enumSchema(literals: readonly JsonSchema[]): JsonSchema {
  const values = literals.map(literal => literal.const)
  const named = NAMED_ENUMS.find(
    ({ values: words }) => words.length === values.length && words.every(w => values.includes(w)),
  )
  if (named !== undefined) return { $ref: `#/components/schemas/${named.name}` }
  return { type: literals[0]?.type, enum: values }
}

const isSchema = (value: unknown): value is TSchema => isJsonObject(value)
const isSchemas = (value: unknown): value is readonly JsonSchema[] => Array.isArray(value)
