/** @jsxImportSource preact */
import { assert } from "../../../../base/errors.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { OWNER_EMAIL } from "../../../../customers/keys/first-account.ts"
import { exampleReducedResult, exampleResult } from "../../../response/example-responses.ts"
import { curlCommand } from "../../ui/format.ts"
import { CodeBlock, prettyJson, Tabs } from "../../ui/layout.tsx"
import { ADAPTERS } from "../adapters.ts"
import { checkPrograms, IN_PROCESS_EXAMPLE, KEY_VARIABLE, keyRotationCommands, signUpFormHtml } from "../examples.ts"
import type { BlockInsert, Insert, PageBlock } from "./insert.ts"
import { codeFence } from "./markdown-text.ts"

/** Commands, answers and programs that are made for this server. */
export const EXAMPLE_INSERTS = {
  /** `{{test-command business}}`: a command that checks a test address, in one line. */
  "test-command": ({ baseUrl, testDomain }, localPart) =>
    codeFence("sh", "Command", `curl '${baseUrl}${ROUTES.getCheck.path}?email=${localPart}@${testDomain}'`),
  "key-command": ({ baseUrl }) =>
    codeFence("sh", "With a key", curlCommand(baseUrl, "jane@acme.com", `$${KEY_VARIABLE}`)),
  "reduced-answer": ({ testDomain }, localPart) =>
    codeFence("json", "Answer", prettyJson(exampleReducedResult(localPart, testDomain))),
  /** `{{adapter hono}}`: the file of an adapter. */
  adapter: (_, name) => {
    const adapter = Object.entries(ADAPTERS).find(([own]) => own === name)?.[1]
    assert(adapter !== undefined, `there is no adapter for ${name}`)
    return adapterFence(adapter)
  },
  "in-process-example": () => codeFence("js", "check.mjs", IN_PROCESS_EXAMPLE),
  "rotate-keys": facts => codeFence("sh", "rotate-keys.sh", keyRotationCommands(OWNER_EMAIL, facts)),
  "sign-up-form": facts => codeFence("html", "sign-up.html", signUpFormHtml("svc_pub_…", facts)),
} as const satisfies Readonly<Record<string, Insert>>

const adapterFence = ({ file, text }: (typeof ADAPTERS)[keyof typeof ADAPTERS]): string =>
  codeFence("js", file, text.trimEnd())

/** A block of code that the page folds. */
export const foldedCode = (summary: string, language: string, caption: string, code: string): PageBlock => ({
  markdown: codeFence(language, caption, code),
  html: (
    <details>
      <summary>{summary}</summary>
      <CodeBlock caption={caption} code={code} language={language} />
    </details>
  ),
})

type CodeTab = { readonly label: string; readonly fence: string; readonly file: string; readonly code: string }

/** Blocks of code of which the page shows one at a time. */
const codeTabs = (label: string, name: string, blocks: readonly CodeTab[]): PageBlock => ({
  markdown: blocks.map(block => `${block.label}:\n\n${codeFence(block.fence, block.file, block.code)}`).join("\n\n"),
  html: (
    <Tabs
      label={label}
      name={name}
      tabs={blocks.map(({ fence, file, code, ...block }) => ({
        label: block.label,
        content: <CodeBlock caption={file} code={code} language={fence} />,
      }))}
    />
  ),
})

/** Examples that the page folds, or shows one language at a time. */
export const FOLDED_EXAMPLE_INSERTS = {
  /** `{{answer business}}`: the answer for a test address, of which the page folds all but what most programs read. */
  answer: ({ testDomain }, localPart) => {
    const answer = exampleResult(localPart, testDomain)
    const { category, confidence, recommendation, reasons } = answer
    const short = prettyJson({ category, confidence, recommendation, reasons }).replace(/\n\}$/, ",\n  …\n}")
    const { markdown, html } = foldedCode("The whole answer", "json", "Answer", prettyJson(answer))
    return {
      markdown,
      html: (
        <>
          <CodeBlock caption="The answer, in short" code={short} language="json" />
          {html}
        </>
      ),
    }
  },
  /** A program in each language. */
  "check-programs": facts => codeTabs("Language", "check", checkPrograms(facts)),
  /** The adapters that need no words. */
  "framework-adapters": () =>
    codeTabs(
      "Framework",
      "framework",
      Object.values(ADAPTERS).flatMap(adapter =>
        "title" in adapter
          ? [{ ...{ label: adapter.title, fence: "js" }, file: adapter.file, code: adapter.text.trimEnd() }]
          : [],
      ),
    ),
} as const satisfies Readonly<Record<string, BlockInsert>>
