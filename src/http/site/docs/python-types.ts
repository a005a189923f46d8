import { CheckResult } from "../../../contract/result-schema.ts"
import { type SchemaNode, useOf } from "../../../contract/schema-parts.ts"
import { BatchResult } from "../../../contract/schemas.ts"

/** The classes of a verdict, of a batch's too, in Python: each after those that it needs, with what is said of each member. */
export function pythonTypes(): string {
  const classes = new Map<string, string>()
  classOf(CheckResult, classes)
  const { results } = BatchResult.properties
  const added = Object.entries<SchemaNode>(results.items.properties).filter(
    ([name]) => !Object.hasOwn(CheckResult.properties, name),
  )
  const members = added.map(([name, member]) => memberText(name, member, classes))
  return [...classes.values(), classText("BatchItemResult", "CheckResult, total=False", members)].join("\n\n")
}

/** The name of the class of an object, which is written if it is new. Members that may be missing are in the class, the others in its base. */
function classOf(schema: SchemaNode, classes: Map<string, string>): string {
  const name = schema.$id ?? "object"
  if (classes.has(name)) return name
  const entries = Object.entries(schema.properties ?? {})
  const isRequired = ([member]: readonly [string, SchemaNode]): boolean => schema.required?.includes(member) ?? false
  const [required, optional] = [entries.filter(isRequired), entries.filter(entry => !isRequired(entry))]
  const written = (of: typeof entries): readonly string[] => of.map(([key, member]) => memberText(key, member, classes))
  if (optional.length === 0) classes.set(name, classText(name, "TypedDict", written(required)))
  else {
    const base = `_${name}Members`
    classes.set(base, classText(base, "TypedDict", written(required)))
    classes.set(name, classText(name, `${base}, total=False`, written(optional)))
  }
  return name
}

const classText = (name: string, base: string, members: readonly string[]): string =>
  `class ${name}(${base}):\n${members.join("")}`

function memberText(name: string, member: SchemaNode, classes: Map<string, string>): string {
  const description = useOf(member).description ?? member.description
  return `    ${name}: ${typeText(member, classes)}\n${description === undefined ? "" : `    """${description}"""\n`}`
}

function typeText(schema: SchemaNode, classes: Map<string, string>): string {
  if (schema.anyOf !== undefined) return unionText(schema.anyOf, classes)
  if (schema.items !== undefined) return `List[${typeText(schema.items, classes)}]`
  return schema.properties === undefined ? (PLAIN[schema.type ?? ""] ?? "Any") : classOf(schema, classes)
}

/** A later version may have more words, so those of today are no type of their own. */
function unionText(members: readonly SchemaNode[], classes: Map<string, string>): string {
  const some = [...new Set(members.filter(({ type }) => type !== "null").map(member => typeText(member, classes)))]
  const text = some.length === 1 ? (some[0] ?? "Any") : `Union[${some.join(", ")}]`
  return members.some(({ type }) => type === "null") ? `Optional[${text}]` : text
}

const PLAIN: Readonly<Record<string, string>> = { string: "str", integer: "int", number: "float", boolean: "bool" }
