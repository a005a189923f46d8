import { Kind, type TLiteral, type TSchema, TypeRegistry, Type as t } from "@sinclair/typebox"
import { hasAtMostCharacters } from "../base/text.ts"

/** One of these strings. `$id` is the name of the schema in the OpenAPI document. */
export function oneOf<const V extends string>($id: string, values: readonly V[]) {
  return t.Union(
    values.map(value => t.Literal(value)) as TLiteral<V>[], // `map` loses the literal types
    { $id },
  )
}

/** What is said of a schema where it is used. */
type UseText = { readonly description: string; readonly examples?: readonly unknown[] }
const USE = Symbol("use")

/** A schema where it is used for a purpose of its own. One with a name keeps its own description. */
export const describedAs = <S extends TSchema>(schema: S, description: string, examples?: readonly unknown[]): S => {
  const use: UseText = examples === undefined ? { description } : { description, examples }
  return schema.$id === undefined ? { ...schema, ...use } : { ...schema, [USE]: use }
}

/** What is said of a schema with a name where it is used; empty: nothing. */
export const useOf = (schema: TSchema & { readonly [USE]?: UseText }): Partial<UseText> => schema[USE] ?? {}

/** The schema, or null. */
export const nullable = <S extends TSchema>(schema: S) => t.Union([schema, t.Null()])

/** TypeBox's `maxLength` counts UTF-16 units, JSON Schema counts characters. */
TypeRegistry.Set<{ readonly maxLength: number; readonly minLength?: number }>("BoundedText", ({ maxLength, minLength = 0 }, value) => typeof value === "string" && value.length >= minLength && hasAtMostCharacters(value, maxLength))

/** A text of at most so many characters, white space at its ends left out. */
export const boundedText = (maxLength: number, options: { readonly description?: string; readonly minLength?: 1 } = {}) => t.Unsafe<string>({ [Kind]: "BoundedText", maxLength, ...options, type: "string" })

/**
 * A member of an answer that this version does not send fails the schema. The OpenAPI document leaves answers open, because a
 * later version may add members.
 */
export const closed = ($id: string) => ({ $id, additionalProperties: false }) as const

/** A schema as JSON Schema has it: what the types of the clients are written from. */
export type SchemaNode = TSchema & {
  readonly $id?: string
  readonly type?: string
  readonly const?: unknown
  readonly description?: string
  readonly anyOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[] | undefined
}
