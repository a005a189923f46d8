import { assert } from "../../base/assert.ts"
import { NAME_LENGTH_MAX } from "./host-name.ts"

const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/

/** What the pattern that a name matches best stands for; null: it matches none. */
export type NamePatterns<T> = (name: string) => T | null

/**
 * Builds a look-up of names by patterns: a bare name matches itself and what is below it, `=name` itself alone, `~` is
 * a regular expression for the whole name. The exact pattern wins, then an expression, then the longest bare name. Names
 * are lower case, without a trailing dot. `Broken` when a pattern cannot be read or stands there twice.
 */
export function namePatterns<T extends object>(rows: Iterable<readonly [pattern: string, value: T]>): NamePatterns<T> {
  const exact = new Map<string, T>()
  const bare = new Map<string, T>()
  const expressions = new Map<string, { readonly expression: RegExp; readonly value: T }>()
  for (const [pattern, value] of rows) {
    if (pattern.startsWith("~")) {
      putOnce(expressions, pattern, { expression: expressionOf(pattern), value })
    } else {
      const isExact = pattern.startsWith("=")
      const name = isExact ? pattern.slice(1) : pattern
      assert(NAME.test(name) && name.length <= NAME_LENGTH_MAX, `${pattern} is a pattern for names`)
      putOnce(isExact ? exact : bare, name, value)
    }
  }
  const tried = [...expressions.values()]
  return name => {
    if (name.length > NAME_LENGTH_MAX) return null
    const same = exact.get(name) ?? tried.find(({ expression }) => expression.test(name))?.value
    return same ?? longest(bare, name)
  }
}

/** The value of the name itself or of the nearest name above it. */
function longest<T>(values: ReadonlyMap<string, T>, name: string): T | null {
  for (let at = 0; at < name.length; at = name.indexOf(".", at) + 1 || name.length) {
    const value = values.get(name.slice(at))
    if (value !== undefined) return value
  }
  return null
}

function expressionOf(pattern: string): RegExp {
  assert(pattern.startsWith("~^") && pattern.endsWith("$"), `${pattern} is for the whole name`)
  return new RegExp(pattern.slice(1))
}

function putOnce<T>(values: Map<string, T>, key: string, value: T): void {
  assert(!values.has(key), `${key} is the pattern of one row`)
  values.set(key, value)
}
