/** The media types of an `Accept` header (RFC 9110 §12.5.1) with their weights, in order. */
export function mediaTypeWeights(accept: string | null): ReadonlyMap<string, number> {
  return new Map(
    (accept ?? "").split(",").map(range => {
      const [type = "", ...parameters] = range.split(";").map(part => part.trim().toLowerCase())
      const weight = Number(parameters.find(text => text.startsWith("q="))?.slice(2) ?? 1)
      return [type, Number.isNaN(weight) ? 0 : weight]
    }),
  )
}

/**
 * Whether `Accept` asks for HTML rather than JSON, as browsers do. Of two types with one weight, the one that is named first
 * wins. A range such as `*` names neither, so a program that accepts everything gets JSON.
 */
export function prefersHtml(accept: string | null): boolean {
  const weights = mediaTypeWeights(accept)
  const types = [...weights.keys()]
  const html = types.findIndex(type => HTML.has(type))
  const json = types.findIndex(isJson)
  const weightAt = (index: number): number => weights.get(types[index] ?? "") ?? 0
  if (html < 0 || weightAt(html) === 0) return false
  if (json < 0 || weightAt(json) < weightAt(html)) return true
  return weightAt(json) === weightAt(html) && html < json
}

const HTML: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"])

const isJson = (type: string): boolean => /^application\/(?:[\w.-]+\+)?json$/.test(type)
