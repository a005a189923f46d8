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
  /** The adapters that need no words, a section each. */
  "framework-adapters": () =>
    Object.entries(ADAPTERS)
      .flatMap(([name, adapter]) =>
        "title" in adapter ? [`## ${adapter.title} {#${name}}`, adapterFence(adapter)] : [],
      )
      .join("\n\n"),
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

/** Examples that the page folds, or shows one language at a time. */
export const FOLDED_EXAMPLE_INSERTS = {
  /** `{{answer business}}`: the whole answer for a test address. */
  answer: ({ testDomain }, localPart) =>
    foldedCode("The answer", "json", "Answer", prettyJson(exampleResult(localPart, testDomain))),
  /** A program in each language. */
  "check-programs": facts => {
    const programs = checkPrograms(facts)
    return {
      markdown: programs
        .map(({ label, fence, file, code }) => `${label}:\n\n${codeFence(fence, file, code)}`)
        .join("\n\n"),
      html: (
        <Tabs
          label="Language"
          name="check"
          tabs={programs.map(({ label, fence, file, code }) => ({
            label,
            content: <CodeBlock caption={file} code={code} language={fence} />,
          }))}
        />
      ),
    }
  },
} as const satisfies Readonly<Record<string, BlockInsert>>
