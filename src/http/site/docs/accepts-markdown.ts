/**
 * Whether `Accept` (RFC 9110 §12.5.1) asks for Markdown rather than HTML: it names `text/markdown`, with a weight that is not
 * below that of `text/html`. A range such as `*` names neither, so browsers get HTML.
 */
export function acceptsMarkdown(accept: string | null): boolean {
  const weights = weightsOf(accept ?? "")
  const markdown = weights.get("text/markdown") ?? 0
  return markdown > 0 && markdown >= (weights.get("text/html") ?? 0)
}

function weightsOf(accept: string): ReadonlyMap<string, number> {
  return new Map(
    accept.split(",").map(range => {
      const [type = "", ...parameters] = range.split(";").map(part => part.trim().toLowerCase())
      const weight = Number(parameters.find(text => text.startsWith("q="))?.slice(2) ?? 1)
      return [type, Number.isNaN(weight) ? 0 : weight]
    }),
  )
}
