import { assert } from "../../base/errors.ts"
import { LIMITS } from "../../contract/limits.ts"

/** The greatest length of a name as text, without a trailing dot (RFC 1035 §2.3.4). On the wire a name has two bytes more. */
export const DOMAIN_NAME_CHARS_MAX = LIMITS.domainBytesMax

/** Whether a name from DNS can be displayed: printable ASCII without spaces, not too long, and not the root. */
export const isDisplayableName = (name: string): boolean =>
  name.length <= DOMAIN_NAME_CHARS_MAX && /^[!-~]+$/.test(name)

/** The name `prefix.domain`; null: it would be too long. */
export function prefixedName(prefix: string, domain: string): string | null {
  const name = `${prefix}.${domain}`
  return name.length <= DOMAIN_NAME_CHARS_MAX ? name : null
}

const PATTERN_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/

/** Returns the value of the best pattern that a name matches; null: it matches none. */
export type NameMatcher<T> = (name: string) => T | null

/**
 * Builds a matcher of names against patterns. A bare name matches itself and its subdomains, `=name` matches only itself, and
 * `~^…$` is a regular expression for the whole name. An exact pattern wins over an expression, and an expression over the
 * longest bare name. Names are lower case, without a trailing dot. Throws `InvariantError` if a pattern is malformed or
 * occurs twice.
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
      assert(PATTERN_NAME.test(name) && name.length <= DOMAIN_NAME_CHARS_MAX, `${pattern} is a pattern of names`)
      setOnce(isExact ? exact : bare, name, value)
    }
  }
  const expressionList = [...expressions.values()]
  return name => {
    if (name.length > DOMAIN_NAME_CHARS_MAX) return null
    const wholeName = exact.get(name) ?? expressionList.find(({ expression }) => expression.test(name))?.value
    return wholeName ?? longestSuffixMatch(bare, name)
  }
}

/** The value of the name itself or of its nearest parent; null: neither it nor a parent has one. */
export function longestSuffixMatch<T>(values: ReadonlyMap<string, T>, name: string): T | null {
  for (let offset = 0; offset < name.length; offset = name.indexOf(".", offset) + 1 || name.length) {
    const value = values.get(name.slice(offset))
    if (value !== undefined) return value
  }
  return null
}

function parseExpression(pattern: string): RegExp {
  assert(pattern.startsWith("~^") && pattern.endsWith("$"), `${pattern} matches the whole name`)
  return new RegExp(pattern.slice(1))
}

function setOnce<T>(values: Map<string, T>, key: string, value: T): void {
  assert(!values.has(key), `${key} occurs once`)
  values.set(key, value)
}
