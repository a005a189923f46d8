import { lazy } from "../../../../base/lazy.ts"
import { isJsonObject } from "../../../../base/untrusted-text.ts"
import { CheckResult, ReducedResult } from "../../../../contract/result-schema.ts"
import { type JsonSchema, membersOf, namedSchemas } from "../../../openapi/json-schemas.ts"
import type { Insert } from "./insert.ts"
import { codeSpan, markdownTable, proseText } from "./markdown-text.ts"

/** A member of a verdict: its path, its type in words, what is said of it, and a value. */
type Field = { readonly path: string; readonly type: string; readonly description: string; readonly example: unknown }

/** The members of a verdict, and tables of what is said of them. */
export const FIELD_INSERTS = {
  /** `{{fields mail}}`: the members of one member; without a name those of the verdict itself. */
  fields: (_, name) =>
    markdownTable(
      ["Field", "Type", "Meaning"],
      verdictFields()
        .filter(({ path }) => parentOf(path) === name)
        .map(({ path, type, description, example }) => [
          `${codeSpan(path)} {#${path.replaceAll(/\W+/g, "-")}}`,
          type,
          `${proseText(description)}${exampleText(example)}`,
        ]),
    ),
  "publishable-fields": () => Object.keys(ReducedResult.properties).map(codeSpan).join(", "),
} as const satisfies Readonly<Record<string, Insert>>

/** A value, unless it is a boolean, or an object, whose members have their own. */
const exampleText = (example: unknown): string =>
  typeof example === "boolean" || isJsonObject(example) || (Array.isArray(example) && example.some(isJsonObject))
    ? ""
    : ` For example: ${codeSpan(JSON.stringify(example))}`

/** The first part of a path that has others; empty: it has none. */
const parentOf = (path: string): string => (path.includes(".") ? path.slice(0, path.indexOf(".")) : "")

/** Every member of a verdict, each object before its own members. */
export const verdictFields = lazy(() => fieldsOf(Object.fromEntries(membersOf(CheckResult)), "", namedSchemas()))

function fieldsOf(members: JsonSchema, prefix: string, named: Readonly<Record<string, JsonSchema>>): readonly Field[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (!isJsonObject(member)) return []
    const { description, examples } = member
    const path = `${prefix}${name}`
    const isArray = member["type"] === "array"
    const inner = resolved(isArray ? member["items"] : member, named)
    const field: Field = {
      path,
      type: isArray ? `array of ${typeIn(inner)}` : typeIn(resolved(member, named)),
      description: typeof description === "string" ? description : "",
      example: Array.isArray(examples) ? examples[0] : undefined,
    }
    const { properties } = inner
    return [field, ...(isJsonObject(properties) ? fieldsOf(properties, `${path}${isArray ? "[]" : ""}.`, named) : [])]
  })
}

/** A schema itself where it is a reference. */
function resolved(schema: unknown, named: Readonly<Record<string, JsonSchema>>): JsonSchema {
  if (!isJsonObject(schema)) return {}
  const { $ref: reference } = schema
  return typeof reference === "string" ? (named[reference.slice(reference.lastIndexOf("/") + 1)] ?? {}) : schema
}

/** A type in words: `string or null`, `object`. */
function typeIn({ type, anyOf, enum: values }: JsonSchema): string {
  if (Array.isArray(type)) return type.join(" or ")
  if (typeof type === "string") return type
  if (Array.isArray(values)) return typeof values[0]
  return Array.isArray(anyOf) && anyOf.some(one => isJsonObject(one) && one["type"] === "null")
    ? "string or null"
    : "string"
}
