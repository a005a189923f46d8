import { lazy } from "../../../../base/lazy.ts"
import { isJsonObject } from "../../../../base/untrusted-text.ts"
import { CheckResult, ReducedResult } from "../../../../contract/result-schema.ts"
import { type JsonSchema, membersOf, namedSchemas } from "../../../openapi/json-schemas.ts"
import { type DocumentParts, listIn, objectIn, resolved, textIn } from "../../reference/operations.ts"
import { typeText } from "../../reference/schema-tree.tsx"
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
export const verdictFields = lazy(() => {
  const document = { components: { schemas: namedSchemas() } }
  return fieldsOf(Object.fromEntries(membersOf(CheckResult)), "", document)
})

function fieldsOf(members: JsonSchema, prefix: string, document: DocumentParts): readonly Field[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (!isJsonObject(member)) return []
    const path = `${prefix}${name}`
    const isArray = member["type"] === "array"
    const { properties } = resolved(document, isArray ? objectIn(member, "items") : member)
    const field: Field = {
      path,
      type: typeText(member, document),
      description: textIn(member, "description"),
      example: listIn(member, "examples")[0],
    }
    return [
      field,
      ...(isJsonObject(properties) ? fieldsOf(properties, `${path}${isArray ? "[]" : ""}.`, document) : []),
    ]
  })
}
