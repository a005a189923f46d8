const DOT = 46
const STAR = 42

/**
 * Where the part of `domain` starts that `pattern` matches, or -1. The pattern is matched from the right, on label
 * boundaries, and may match any of the domain's parents; a `*` in it is exactly one label.
 */
export function patternMatchStart(domain: string, pattern: string): number {
  let at = domain.length - 1
  for (let next = pattern.length - 1; next >= 0; next--) {
    const wanted = pattern.charCodeAt(next)
    if (wanted === STAR) {
      const dot = domain.lastIndexOf(".", at)
      if (at < 0 || dot === at) return -1
      at = dot
    } else if (at < 0 || domain.charCodeAt(at) !== wanted) return -1
    else at--
  }
  return at < 0 || domain.charCodeAt(at) === DOT ? at + 1 : -1
}

/** The literal labels after a pattern's last `*`; the whole of a suffix without one. */
export const literalTail = (pattern: string): string => pattern.slice(pattern.lastIndexOf("*") + 1).replace(/^\./, "")

/** Whether a name, or a parent of it, is one of a group of suffixes. */
export type SuffixMatcher = (name: string) => boolean

/** Builds the matcher of the given suffixes, literal ones and patterns alike. */
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
