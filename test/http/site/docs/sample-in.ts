import { unescapeHtml } from "../../../support/open-site.ts"

/** The code under a caption of a page; null: there is none. */
export function sampleIn(html: string, caption: string): string | null {
  const figures = html.matchAll(/<figcaption>(.*?)<\/figcaption><pre[^>]*><code>(.*?)<\/code>/gs)
  for (const [, title = "", code = ""] of figures)
    if (unescapeHtml(title) === caption) return unescapeHtml(code.replaceAll(/<[^>]*>/g, ""))
  return null
}
