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
  /** `{{fields mail}}`: the members of one member; without a name those of the verdict itself, by what they are for. */
  fields: (_, name) => {
    const fields = verdictFields().filter(
      ({ path, type }) => parentOf(path) === name && (name === "" || type !== "object"),
    )
    const rows = FIELD_GROUPS.flatMap(([title, paths]) => {
      const own = paths.flatMap(path => fields.filter(field => field.path === path))
      return own.length === 0 ? [] : [[`**${title}**`, "", ""], ...own.map(fieldRow)]
    })
    return markdownTable(["Field", "Type", "Meaning"], rows.length === 0 ? fields.map(fieldRow) : rows)
  },
  "publishable-fields": () => Object.keys(ReducedResult.properties).map(codeSpan).join(", "),
} as const satisfies Readonly<Record<string, Insert>>

const fieldRow = ({ path, type, description, example }: Field): readonly string[] => [
  `${codeSpan(path)} {#${path.replaceAll(/\W+/g, "-")}}`,
  type,
  `${proseText(description)}${exampleText(example)}`,
]

/** The members of the verdict itself by what they are for. */
// biome-ignore format: a group a line
const FIELD_GROUPS: readonly (readonly [title: string, paths: readonly string[]])[] = [
  ["What most programs read", ["recommendation", "category", "confidence", "reasons"]],
  ["What was checked", ["email", "url", "normalized_email", "canonical_email", "domain", "did_you_mean"]],
  ["What kind of address it is", ["is_business", "is_free_provider", "is_disposable", "is_relay", "is_role_account", "shared_inbox", "group", "has_subaddress"]],
  ["Risk", ["is_blocked", "is_new_domain", "is_lookalike", "domain_age_days"]],
  ["Evidence", ["mail", "workspace", "integrations"]],
  ["The answer", ["policy", "degraded", "cached", "took_ms", "request_id"]],
]

/** A value, unless it is a boolean, or an object, whose members have their own. */
const exampleText = (example: unknown): string =>
  typeof example === "boolean" || isJsonObject(example) || (Array.isArray(example) && example.some(isJsonObject))
    ? ""
    : ` *Example: ${codeSpan(JSON.stringify(example))}*`

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
