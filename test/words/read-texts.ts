import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Parser } from "htmlparser2"
import { METRICS } from "../../src/contract/metrics.ts"
import { ROOT } from "../architecture/source-files.ts"
import { type AppOptions, testApp } from "../support/app.ts"
import { linksIn, signedInBrowser } from "../support/html-browser.ts"

/** A text as a person reads it, and where. */
export type ReadText = { readonly path: string; readonly text: string }

/** Elements whose text is code, or a machine's own notation. */
const CODE = new Set(["pre", "code", "script", "style", "svg", "template", "textarea"])

/** Attributes whose values people read. */
const READ_ATTRIBUTES = ["aria-label", "title", "placeholder", "alt"]

/** What people read of a page: text and labels without code, on one line. */
export function readTextOf(html: string): string {
  let text = ""
  let codeDepth = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      if (CODE.has(name)) codeDepth++
      if (codeDepth > 0) return
      text += READ_ATTRIBUTES.map(attribute => attributes[attribute])
        .filter(value => value !== undefined)
        .map(value => ` ; ${value} ; `)
        .join("")
      if (!INLINE.has(name)) text += " ; "
    },
    ontext(part) {
      if (codeDepth === 0) text += part
    },
    onclosetag(name) {
      if (CODE.has(name)) {
        codeDepth--
        text += " Code "
      }
      if (!INLINE.has(name)) text += " ; "
    },
  })
  parser.end(html)
  return text.replaceAll(/\s+/g, " ")
}

/** Elements that are a part of a sentence. */
const INLINE = new Set(["a", "b", "bdi", "em", "strong", "time", "code", "abbr", "small"])

/** An account with a key, checks, own lists, a list that was uploaded, rules and a report. */
const FILLED: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
  ["/dashboard/keys", { name: "Shop", kind: "secret" }],
  ["/dashboard/keys", { name: "Form", kind: "publishable", origins: "https://shop.example" }],
  ["/dashboard/try", { input: "jane@gmail.com", policy: "b2b" }],
  ["/dashboard/try", { input: "bob@gmial.com", policy: "strict" }],
  ["/dashboard/try", { input: "mia@mailinator.com", policy: "lenient" }],
  ["/dashboard/list-entries", { list: "block", list_action: "add", entries: "spam.example\n*.zip", note: "October" }],
  ["/dashboard/list-entries", { list: "allow", list_action: "add", entries: "good.example", note: "" }],
  ["/dashboard/feedback", { subject: "mailinator.com", expected: "business", comment: "A customer." }],
  ["/admin/invitations", { email: "guest@newshop.com", tier: "1" }],
]

/** Filters and periods of pages that no link leads to. */
const FURTHER_PATHS = [
  "/dashboard/requests?from=2026-11-25T00%3A00&to=2026-11-26T00%3A00",
  "/dashboard/requests?domain=gmail&status=2xx",
  "/admin/acts?from=2026-11-25&to=2026-11-26",
]

/** How many pages of one kind are read. */
const PER_KIND_MAX = 2

/** All pages that links lead to, as an administrator with data of every kind reads them. */
export async function readPages(options: AppOptions): Promise<readonly ReadText[]> {
  const browser = await signedInBrowser(await testApp(options))
  for (const [path, fields] of FILLED) await browser.post(path, fields)
  const found: ReadText[] = []
  const kinds = new Map<string, number>()
  const paths = new Set(["/", "/dashboard", "/admin", "/docs", "/sign-in", ...FURTHER_PATHS])
  for (const path of paths) {
    const kind = kindOf(path)
    const count = kinds.get(kind) ?? 0
    if (count >= PER_KIND_MAX || kind === "/docs/licences") continue
    kinds.set(kind, count + 1)
    const page = await browser.get(path)
    if (!page.headers.get("content-type")?.startsWith("text/html")) continue
    found.push({ path, text: readTextOf(page.html) })
    for (const link of linksIn(page)) if (/^\/(?!\/)/.test(link)) paths.add(link.replace(/#.*$/, ""))
  }
  return found
}

/** A path without ids and queries. */
const kindOf = (path: string): string => path.replace(/\?.*$/, "?").replace(/\/(?:[a-z]+_\w{20}|\d+-\d+)/g, "/:id")

/** The mails, the descriptions of the OpenAPI document and of metrics, without code. */
export function readMailsAndDescriptions(): readonly ReadText[] {
  const notices = join(ROOT, "test/golden/notices")
  const mails = readdirSync(notices)
    .filter(name => name.endsWith(".txt"))
    .map(name => ({ path: `golden/notices/${name}`, text: readFileSync(join(notices, name), "utf8") }))
  const openApi = readFileSync(join(ROOT, "test/golden/openapi.json"), "utf8")
  const descriptions = [...openApi.matchAll(/"(?:description|summary|title)": ("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '""']) => ({
      path: "golden/openapi.json",
      text: withoutCode(String(JSON.parse(text))),
    }),
  )
  const metrics = Object.entries(METRICS).map(([path, { description }]) => ({ path, text: withoutCode(description) }))
  return [...mails, ...descriptions, ...metrics]
}

/** A Markdown text without its code, inserts and targets of links. */
export const withoutCode = (markdown: string): string =>
  markdown
    .replaceAll(/```[\s\S]*?```/g, " Code ")
    .replaceAll(/`[^`]*`|\{\{[^}]*\}\}/g, "Code")
    .replaceAll(/\]\([^)]*\)/g, "]")
