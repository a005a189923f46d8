const DOT = 46
const STAR = 42

/**
 * The index at which the part of `domain` that `pattern` matches starts; -1: no match. The pattern is matched from the
 * right, at label boundaries, and may match any parent of the domain. A `*` matches exactly one label.
 */
export function patternMatchStart(domain: string, pattern: string): number {
  let index = domain.length - 1
  for (let next = pattern.length - 1; next >= 0; next--) {
    const code = pattern.charCodeAt(next)
    if (code === STAR) {
      const dot = domain.lastIndexOf(".", index)
      if (index < 0 || dot === index) return -1
      index = dot
    } else if (index < 0 || domain.charCodeAt(index) !== code) return -1
    else index--
  }
  return index < 0 || domain.charCodeAt(index) === DOT ? index + 1 : -1
}

/** The literal labels after a pattern's last `*`; the complete suffix if it has none. */
export const literalTail = (pattern: string): string => pattern.slice(pattern.lastIndexOf("*") + 1).replace(/^\./, "")

/** Whether a name or one of its parents matches one of the suffixes. */
export type SuffixMatcher = (name: string) => boolean

/** Creates the matcher of literal suffixes and suffix patterns. */
export function createSuffixMatcher(suffixes: Iterable<string>): SuffixMatcher {
  const literal = new Set<string>()
  const patterns = new Map<string, string[]>()
  for (const suffix of suffixes) {
    const tail = literalTail(suffix)
    if (tail === suffix) literal.add(suffix)
    else patterns.set(tail, [...(patterns.get(tail) ?? []), suffix])
  }
  return name => {
    for (let at = 0; ; ) {
      const level = name.slice(at)
      if (literal.has(level)) return true
      if (patterns.get(level)?.some(pattern => patternMatchStart(name, pattern) >= 0) === true) return true
      const dot = name.indexOf(".", at)
      if (dot < 0) return false
      at = dot + 1
    }
  }
}
