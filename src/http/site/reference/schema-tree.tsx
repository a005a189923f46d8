/** @jsxImportSource preact */
import type { VNode } from "preact"
import { isJsonObject } from "../../../base/untrusted-text.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { JsonSchema } from "../../openapi/json-schemas.ts"
import type { OpenApiDocument } from "../../openapi/openapi-document.ts"
import { pageTitle } from "../docs/guide.ts"
import { formatCount, formatNumber } from "../ui/format.ts"
import { type DocumentParts, listIn, objectIn, referenceName, resolved, textIn } from "./operations.ts"

/** What the trees of one page share: a named schema is shown once, and linked from then on. */
export type TreePage = { readonly document: OpenApiDocument; readonly shown: Set<string> }

/** Whether a member must be there: in a request it is required, in an answer it may be missing. */
export type Direction = "request" | "answer"

/** A text of the document: what is in backticks is code, pages of the guide are links by their titles, and large numbers are readable. */
export function DocumentText({ text }: { readonly text: string }) {
  // Splitting at a pattern with one group yields text and what matches in turn.
  const parts = text.split(/(`[^`]*`|\/docs\/[a-z][a-z-]+(?:#[a-z-]+)?)/)
  return (
    <>
      {parts.map((part, index) => {
        if (index % 2 === 0) return readableNumbers(part)
        return part.startsWith("`") ? (
          <code key={index}>{part.slice(1, -1)}</code>
        ) : (
          <a key={index} href={part}>
            {pageTitle(part)}
          </a>
        )
      })}
    </>
  )
}

/** `65536 bytes` as `64 KiB`, and `10000` as `10,000`. */
export const readableNumbers = (text: string): string =>
  text
    .replace(/\b(\d{4,}) bytes/g, (all, bytes) => (bytes % 1024 === 0 ? `${bytes / 1024} KiB` : all))
    .replace(/(?<!=)\b\d{5,}\b/g, number => formatNumber(Number(number)))

/** The members of a body as a tree, made in order of the page. */
export function schemaTree(schema: JsonSchema, direction: Direction, page: TreePage): VNode | null {
  const [only, ...others] = objectsIn(schema, page)
  if (only === undefined) return null
  if (others.length === 0) return memberList(only.schema, direction, page)
  return (
    <>
      {[only, ...others].map(({ name, schema: alternative }, index) => (
        <details key={name} open={index === 0}>
          <summary>
            <code class="member">{name}</code>
          </summary>
          {memberList(alternative, direction, page)}
        </details>
      ))}
    </>
  )
}

type MemberProps = {
  readonly name: string
  readonly schema: JsonSchema
  /** A word about its presence; empty: it is as one expects. */
  readonly presence: string
  readonly direction: Direction
  readonly page: TreePage
}

/** A member of an object, or a parameter: its name, its type with its bounds, what it means, and what is in it. */
export function schemaMember({ name, schema, presence, direction, page }: MemberProps): VNode {
  const target = resolved(page.document, schema)
  const description = textIn(schema, "description") || textIn(target, "description")
  const [example] = [...listIn(schema, "examples"), ...listIn(target, "examples")]
  return (
    <li key={name}>
      <p>
        <code class="member">{name}</code> <span class="type">{typeText(schema, page.document)}</span>
        {presence === "" ? null : <span class="presence">{presence}</span>}
      </p>
      {description === "" ? null : (
        <p>
          <DocumentText text={description} />
        </p>
      )}
      {example === undefined || isJsonObject(example) ? null : (
        <p class="type">
          Example: <code>{JSON.stringify(example)}</code>
        </p>
      )}
      {valueList(schema, page)}
      {objectsIn(schema, page).map(object => innerObject(object, description, direction, page))}
    </li>
  )
}

type NamedObject = { readonly name: string; readonly schema: JsonSchema }

function memberList(schema: JsonSchema, direction: Direction, page: TreePage): VNode {
  const required = listIn(schema, "required")
  const alternatives = new Set(listIn(schema, ONE_OF_MEMBERS))
  return (
    <ul class="members">
      {Object.entries(objectIn(schema, "properties")).map(([name, member]) =>
        schemaMember({
          name,
          schema: isJsonObject(member) ? member : {},
          presence: alternatives.has(name) ? "one of these" : presenceText(required.includes(name), direction),
          direction,
          page,
        }),
      )}
    </ul>
  )
}

/** What is said of presence: requests say what they need, and answers what they may leave out. */
export function presenceText(isRequired: boolean, direction: Direction): string {
  if (direction === "request") return isRequired ? "required" : ""
  return isRequired ? "" : "not always there"
}

/** The members of an object below what is said of it there. */
function innerObject({ name, schema }: NamedObject, said: string, direction: Direction, page: TreePage): VNode {
  if (page.shown.has(name))
    return (
      <p key={name}>
        <a href={`#${name}`}>
          Its members are those of <code>{name}</code> above.
        </a>
      </p>
    )
  if (name !== "") page.shown.add(name)
  const description = textIn(schema, "description")
  const count = Object.keys(objectIn(schema, "properties")).length
  return (
    <details key={name} {...(name === "" ? {} : { id: name })}>
      <summary>{formatCount(count, "member")}</summary>
      {description === "" || description === said ? null : (
        <p>
          <DocumentText text={description} />
        </p>
      )}
      {memberList(schema, direction, page)}
    </details>
  )
}

/** The values that a schema allows. Those that have a description of their own are folded. */
function valueList(schema: JsonSchema, page: TreePage): VNode | null {
  const name = referenceName(schema)
  const target = resolved(page.document, schema)
  const items = objectIn(target, "items")
  if (Object.keys(items).length > 0) return valueList(items, page)
  const open = listIn(target, "anyOf").filter(isJsonObject)
  const inner = open.find(part => referenceName(part) !== "")
  if (inner !== undefined) return valueList(inner, page)
  const values = [target, ...open].flatMap(part => listIn(part, "enum"))
  if (values.length === 0) return null
  const meanings = objectIn(target, "x-enumDescriptions")
  const isExplained = Object.keys(meanings).length > 0 && open.length === 0
  if (!isExplained && values.length <= SHORT_VALUES) return <p class="type">One of {codes(values)}</p>
  if (name !== "" && page.shown.has(name))
    return (
      <p>
        <a href={`#${name}`}>
          The values of <code>{name}</code> above.
        </a>
      </p>
    )
  if (name !== "") page.shown.add(name)
  return (
    <details {...(name === "" ? {} : { id: name })}>
      <summary>{formatCount(values.length, "value")}</summary>
      {isExplained ? (
        <ul class="members">
          {values.map(value => (
            <li key={String(value)}>
              <p>
                <code class="member">{String(value)}</code> <DocumentText text={textIn(meanings, String(value))} />
              </p>
            </li>
          ))}
        </ul>
      ) : (
        <p class="type">{name === "ProblemCode" ? problemLinks(values) : codes(values)}</p>
      )}
    </details>
  )
}

/** As many values without a description stand in a line. */
const SHORT_VALUES = 12

/** Values in a line. */
export const codes = (values: readonly unknown[]) =>
  values.map((value, index) => [index === 0 ? "" : ", ", <code key={index}>{String(value)}</code>])

const problemLinks = (values: readonly unknown[]) =>
  values.map(String).map((code, index) => [
    index === 0 ? "" : " ",
    <a key={code} href={code in PROBLEMS ? `${ROUTES.docsErrors.path}#${code}` : ROUTES.docsErrors.path}>
      <code>{code}</code>
    </a>,
  ])

/** The objects with members that a value of the schema may be, or hold. */
function objectsIn(schema: JsonSchema, page: TreePage): readonly NamedObject[] {
  const target = resolved(page.document, schema)
  const choices = listIn(target, "oneOf").filter(isJsonObject)
  if (choices.length > 0) return [{ name: referenceName(schema), schema: mergedObject(choices, page) }]
  if ("properties" in target) return [{ name: referenceName(schema), schema: target }]
  const parts = [...listIn(target, "anyOf"), target["items"], target["additionalProperties"]]
  return parts.filter(isJsonObject).flatMap(part => objectsIn(part, page))
}

/** The members of which an alternative has exactly one. */
const ONE_OF_MEMBERS = "x-oneOf"

/** One object with the members of all alternatives, which differ in one member that each of them needs. */
function mergedObject(choices: readonly JsonSchema[], page: TreePage): JsonSchema {
  const objects = choices.map(choice => resolved(page.document, choice))
  const all: JsonSchema = Object.assign({}, ...objects.map(object => objectIn(object, "properties")))
  const isEverywhere = (name: string): boolean => objects.every(object => name in objectIn(object, "properties"))
  const own = Object.keys(all).filter(name => !isEverywhere(name))
  const properties = Object.fromEntries(
    [...own, ...Object.keys(all).filter(isEverywhere)].map(name => [name, all[name]]),
  )
  const required = listIn(objects[0] ?? {}, "required").filter(name => !own.includes(String(name)))
  return { properties, required, [ONE_OF_MEMBERS]: own }
}

/** The type of a value in words, with its bounds. */
export function typeText(schema: JsonSchema, document: DocumentParts): string {
  const target = resolved(document, schema)
  if ("const" in target) return JSON.stringify(target["const"])
  const choices = [...listIn(target, "anyOf"), ...listIn(target, "oneOf")].filter(isJsonObject)
  if (choices.length > 0) return [...new Set(choices.map(choice => typeText(choice, document)))].join(" or ")
  const { type } = target
  const names = (Array.isArray(type) ? type : [type]).map(String)
  return names.map(name => namedType(name, target, document)).join(" or ")
}

function namedType(name: string, schema: JsonSchema, document: DocumentParts): string {
  const { items, additionalProperties } = schema
  if (name === "array")
    return `list of ${isJsonObject(items) ? typeText(items, document) : "values"}${boundsText(schema)}`
  if (name === "object" && isJsonObject(additionalProperties))
    return `object of ${typeText(additionalProperties, document)}`
  if (name === "null" || name === "object" || name === "undefined") return name === "undefined" ? "value" : name
  const format = textIn(schema, "format")
  return `${FORMATS[format] ?? name}${boundsText(schema)}`
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "date and time",
  date: "date",
  uri: "URL",
  binary: "bytes",
}

/** The bounds of a value: `, 1 to 100 characters`. */
function boundsText(schema: JsonSchema): string {
  const bounds = BOUNDS.flatMap(([least, most, unit]) => {
    const [from, to] = [schema[least], schema[most]]
    const units = unit === "" ? "" : ` ${unit}`
    if (from !== undefined && to !== undefined) return `${from} to ${to}${units}`
    if (to !== undefined) return `at most ${to}${units}`
    // A count is never below nothing.
    return from === undefined || from === 0 ? [] : `at least ${from}${units}`
  })
  return bounds.map(bound => `, ${bound}`).join("")
}

const BOUNDS = [
  ["minimum", "maximum", ""],
  ["minLength", "maxLength", "characters"],
  ["minItems", "maxItems", "items"],
] as const
