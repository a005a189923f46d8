/** @jsxImportSource preact */
import type { HLJSApi, LanguageFn } from "highlight.js"

type CodeProps = {
  readonly code: string
  /** The language of the block, as after a code fence. Undefined or unknown: plain text, as for what people have typed. */
  readonly language?: string | undefined
}

/** Code with the colours of its language. All of its text is escaped. */
export function Highlighted({ code, language = "" }: CodeProps) {
  const html = highlightedHtml(code, language)
  return html === null ? <code>{code}</code> : <code {...{ dangerouslySetInnerHTML: { __html: html } }} />
}

/** The grammars by the names that fences use. Each is loaded when it is first needed: all of them take 40 ms, a command then 0.1 ms. */
const GRAMMARS: Readonly<Record<string, () => LanguageFn>> = {
  sh: () => require("highlight.js/lib/languages/bash"),
  json: () => require("highlight.js/lib/languages/json"),
  js: () => require("highlight.js/lib/languages/javascript"),
  ts: () => require("highlight.js/lib/languages/typescript"),
  python: () => require("highlight.js/lib/languages/python"),
  php: () => require("highlight.js/lib/languages/php"),
  go: () => require("highlight.js/lib/languages/go"),
  html: () => require("highlight.js/lib/languages/xml"),
  yaml: () => require("highlight.js/lib/languages/yaml"),
  ini: () => require("highlight.js/lib/languages/ini"),
  nginx: () => require("highlight.js/lib/languages/nginx"),
  sql: () => require("highlight.js/lib/languages/sql"),
  http: () => require("highlight.js/lib/languages/http"),
  dockerfile: () => require("highlight.js/lib/languages/dockerfile"),
}

/** Other names of the same grammars. */
const ALIASES: Readonly<Record<string, string>> = { py: "python", toml: "ini", bash: "sh" }

/** The languages inside pages of HTML. */
const INNER_GRAMMARS: Readonly<Record<string, string>> = { html: "js" }

/** The class of each token in the stylesheet: keywords, strings, numbers, comments, and names. All others are plain. */
const TOKEN_CLASSES: Readonly<Record<string, string>> = {
  ...{ keyword: "hk", built_in: "hk", name: "hk", meta: "hk", section: "hk", type: "hk" },
  ...{ string: "hs", regexp: "hs", number: "hn", literal: "hn", comment: "hc", quote: "hc" },
  ...{ attr: "ha", attribute: "ha", property: "ha", title: "ha", variable: "ha" },
}

/** Longer code is shown plain, so that no page waits for its colours. */
const CODE_LENGTH_MAX = 20_000

let highlighter: HLJSApi | null = null

function highlightedHtml(code: string, fence: string): string | null {
  const language = ALIASES[fence] ?? fence
  if (!Object.hasOwn(GRAMMARS, language) || code.length > CODE_LENGTH_MAX) return null
  highlighter ??= require("highlight.js/lib/core") as HLJSApi
  for (const name of [language, INNER_GRAMMARS[language] ?? language]) load(highlighter, name)
  return shortClasses(highlighter.highlight(code, { language, ignoreIllegals: true }).value)
}

function load(loader: HLJSApi, name: string): void {
  const grammar = GRAMMARS[name]
  if (grammar === undefined || loader.getLanguage(name) !== undefined) return
  loader.registerLanguage(name, grammar())
}

/**
 * Gives tokens the classes of the stylesheet, and drops those that have none. Only tags of the library hold a `<`: it escapes the code.
 * Quotes are escaped too, which a text does not need.
 */
function shortClasses(html: string): string {
  const open: boolean[] = []
  const text = html.replaceAll("&quot;", '"').replaceAll("&#x27;", "'")
  return text.replace(/<span class="(?:hljs-)?([a-z_]+)[^"]*">|<\/span>/g, (_, token: string | undefined) => {
    if (token === undefined) return open.pop() === true ? "</span>" : ""
    const name = TOKEN_CLASSES[token]
    open.push(name !== undefined)
    return name === undefined ? "" : `<span class="${name}">`
  })
}
