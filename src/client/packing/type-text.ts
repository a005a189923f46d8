import { type SchemaNode, useOf } from "../../contract/schema-parts.ts"

/** Declarations by name, in the order in which they were met. */
export type TypeDeclarations = Map<string, string>

/**
 * The type of a schema as TypeScript text. A schema with an `$id` becomes a declaration of that name. In answers (`isOpen`) a
 * choice of strings is open: a later version of the server may send one more.
 */
export function typeText(schema: SchemaNode, declarations: TypeDeclarations, isOpen: boolean): string {
  const name = schema.$id
  if (name === undefined) return bareTypeText(schema, declarations, isOpen)
  const isChoice = isStringChoice(schema)
  if (!declarations.has(name)) {
    declarations.set(name, "") // its place in the order
    declarations.set(name, `type ${name} = ${bareTypeText(schema, declarations, isOpen)}\n`)
  }
  return isChoice && isOpen ? `${name} | (string & {})` : name
}

const comment = (description: string | undefined, indent: string): string =>
  description === undefined ? "" : `${indent}/** ${description} */\n`

const isStringChoice = (schema: SchemaNode): boolean =>
  schema.anyOf?.every(({ const: value }) => typeof value === "string") === true

function bareTypeText(schema: SchemaNode, declarations: TypeDeclarations, isOpen: boolean): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf !== undefined) return schema.anyOf.map(each => typeText(each, declarations, isOpen)).join(" | ")
  if (schema.items !== undefined) {
    const item = typeText(schema.items, declarations, isOpen)
    return item.includes("|") ? `(${item})[]` : `${item}[]`
  }
  const [values] = Object.values(schema.patternProperties ?? {})
  if (values !== undefined) return `Record<string, ${typeText(values, declarations, isOpen)}>`
  if (schema.properties !== undefined) return objectText(schema, schema.properties, declarations, isOpen)
  return PLAIN[schema.type ?? ""] ?? "unknown"
}

const PLAIN: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
}

function objectText(
  { required = [] }: SchemaNode,
  properties: Readonly<Record<string, SchemaNode>>,
  declarations: TypeDeclarations,
  isOpen: boolean,
): string {
  const members = Object.entries(properties).map(([name, member]) => {
    const type = typeText(member, declarations, isOpen)
    const optional = required.includes(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`
    return `${comment(useOf(member).description ?? member.description, "  ")}  ${optional}\n`
  })
  return `{\n${members.join("")}}`
}
