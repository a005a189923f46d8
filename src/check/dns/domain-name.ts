import { assert } from "../../base/errors.ts"
import { LIMITS } from "../../contract/limits.ts"

/** How many characters a name has at most, without a trailing dot (RFC 1035 §2.3.4). */
export const DOMAIN_NAME_CHARS_MAX = LIMITS.domainBytesMax

/** Whether a name from outside can be shown: printable ASCII without spaces, of a name's length, and not the root. */
export const isDisplayableName = (name: string): boolean =>
  name.length <= DOMAIN_NAME_CHARS_MAX && /^[!-~]+$/.test(name)

/** The name that stands under `domain` by `prefix`; null: it would be longer than names can be. */
export function prefixedName(prefix: string, domain: string): string | null {
  const name = `${prefix}.${domain}`
  return name.length <= DOMAIN_NAME_CHARS_MAX ? name : null
}

const PATTERN_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/

/** What the pattern that a name matches best stands for; null: it matches none. */
export type NameMatcher<T> = (name: string) => T | null

/**
 * Builds a look-up of names by patterns: a bare name matches itself and what is below it, `=name` itself alone, `~` is
 * a regular expression for the whole name. The exact pattern wins, then an expression, then the longest bare name. Names
 * are lower case, without a trailing dot. `Broken` when a pattern cannot be read or stands there twice.
 */
export function createNameMatcher<T extends object>(
  rows: Iterable<readonly [pattern: string, value: T]>,
): NameMatcher<T> {
  const exact = new Map<string, T>()
  const bare = new Map<string, T>()
  const expressions = new Map<string, { readonly expression: RegExp; readonly value: T }>()
  for (const [pattern, value] of rows) {
    if (pattern.startsWith("~")) {
      setOnce(expressions, pattern, { expression: parseExpression(pattern), value })
    } else {
      const isExact = pattern.startsWith("=")
      const name = isExact ? pattern.slice(1) : pattern
      assert(PATTERN_NAME.test(name) && name.length <= DOMAIN_NAME_CHARS_MAX, `${pattern} is a pattern for names`)
      setOnce(isExact ? exact : bare, name, value)
    }
  }
  const tried = [...expressions.values()]
  return name => {
    if (name.length > DOMAIN_NAME_CHARS_MAX) return null
    const same = exact.get(name) ?? tried.find(({ expression }) => expression.test(name))?.value
    return same ?? longestSuffixMatch(bare, name)
  }
}

/** The value of the name itself or of the nearest name above it. */
function longestSuffixMatch<T>(values: ReadonlyMap<string, T>, name: string): T | null {
  for (let at = 0; at < name.length; at = name.indexOf(".", at) + 1 || name.length) {
    const value = values.get(name.slice(at))
    if (value !== undefined) return value
  }
  return null
}

function parseExpression(pattern: string): RegExp {
  assert(pattern.startsWith("~^") && pattern.endsWith("$"), `${pattern} is for the whole name`)
  return new RegExp(pattern.slice(1))
}

function setOnce<T>(values: Map<string, T>, key: string, value: T): void {
  assert(!values.has(key), `${key} is the pattern of one row`)
  values.set(key, value)
}
