/** @jsxImportSource preact */
import { expect, test } from "bun:test"
import { render } from "preact-render-to-string"
import { MARKDOWN_GUIDE_PAGES } from "../../../../src/http/site/docs/guide.ts"
import { Highlighted } from "../../../../src/http/site/ui/highlighted.tsx"
import { unescapeHtml } from "../../../support/open-site.ts"

const htmlOf = (code: string, language?: string): string => render(<Highlighted code={code} language={language} />)
const textIn = (html: string): string => unescapeHtml(html.replaceAll(/<[^>]*>/g, ""))

const SAMPLES: Readonly<Record<string, string>> = {
  sh: `curl -H 'Accept: text/plain' "$URL" # get it`,
  json: `{"confidence": 0.95, "degraded": false, "mail": null, "category": "business"}`,
  js: "const answer = await fetch(url) // go",
  ts: "export type Answer = { readonly id: string } // 1",
  python: `import os\nprint(os.environ["KEY"], 1)  # go`,
  php: `<?php echo getenv('KEY'), 1; // go`,
  go: `package main\nfunc main() { println("go", 1) }`,
  html: `<p class="a">x</p><script>const a = "b"</script>`,
  yaml: `port: 8080 # open\nname: "x"`,
  ini: `[Unit]\nName = "x" ; why\nPort = 1`,
  toml: `name = "x"\nport = 1`,
  nginx: `server { listen 443 ssl; }`,
  sql: `select 1 from names where label = 'x' -- all`,
}

test.each(Object.entries(SAMPLES))("code in %s has colours, and is copied as it was written", (language, code) => {
  const html = htmlOf(code, language)
  expect(html).toMatch(/<span class="h[ksnca]">/)
  expect(textIn(html)).toBe(code)
})

test("whatever code says, its colours are the only elements", () => {
  const hostile = [
    `</code></pre><script>alert(1)</script>`,
    `"<img src=x onerror=alert(1)>" & '<span class="hljs-string">'`,
  ]
  for (const language of [...Object.keys(SAMPLES), "dockerfile", "http", "text", "nothing", "constructor", undefined])
    for (const code of hostile) {
      const html = htmlOf(code, language)
      expect(html.replaceAll(/<\/?code>|<span class="h[ksnca]">|<\/span>/g, "")).not.toContain("<")
      expect(html.split("<span").length).toBe(html.split("</span>").length)
      expect(textIn(html)).toBe(code)
    }
})

test("code without a language, and code of a great length, is plain", () => {
  for (const html of [htmlOf("const a = 1"), htmlOf("const a = 1", "text"), htmlOf("const a = 1\n".repeat(2000), "js")])
    expect(html).not.toContain("<span")
})

test("every language of the guide's code has colours, but for plain text and one shell", () => {
  const fences = MARKDOWN_GUIDE_PAGES.flatMap(({ text }) => [...text.matchAll(/^```(\w+)/gm)].map(([, name]) => name))
  const plain = [...new Set(fences)].filter(
    name => !htmlOf(`a = "b" # 1\n{"c": 1} if (d) { return 'e' }`, name).includes("<span"),
  )
  expect(plain.toSorted()).toEqual(["powershell", "text"])
})
