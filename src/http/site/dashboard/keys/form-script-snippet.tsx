/** @jsxImportSource preact */
import { ROUTES } from "../../../../contract/routes.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import { formScriptTag } from "../../form-script.ts"
import { CodeBlock } from "../../ui/layout.tsx"

type FormScriptSnippetProps = {
  readonly apiKey: Pick<ApiKey, "origins">
  /** The publishable key itself. */
  readonly keyText: string
  readonly baseUrl: string
}

/** The line that a website of the key copies, to give hints beside the email fields of its forms. */
export const FormScriptSnippet = ({ apiKey, keyText, baseUrl }: FormScriptSnippetProps) => (
  <>
    <p>
      Copy this line into your page. The <a href={ROUTES.docsFormScript.path}>form script</a> shows hints beside its
      email fields.
    </p>
    <CodeBlock caption={`In a page of ${apiKey.origins.join(", ")}`} code={formScriptTag(baseUrl, keyText)} />
  </>
)
