/** @jsxImportSource preact */
import { ROUTES } from "../../../../contract/routes.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { curlCommand } from "../../ui/format.ts"
import { CodeBlock } from "../../ui/layout.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { FormScriptSnippet } from "./form-script-snippet.tsx"
import { KeyLast4 } from "./key-summary.tsx"

type NewKeyPageProps = {
  readonly user: SignedInUser
  readonly apiKey: ApiKey
  /** The key itself. */
  readonly keyText: string
  readonly baseUrl: string
}

/** Displays a new key and how to use it. No other page displays a secret key. */
export function NewKeyPage({ user, apiKey, keyText, baseUrl }: NewKeyPageProps) {
  return (
    <DashboardLayout route="keys" title="Your new key" user={user}>
      <NewKeySection apiKey={apiKey} keyText={keyText} baseUrl={baseUrl} />
      <p>
        <a href={ROUTES.keys.path}>All keys</a> · <a href={pathWithId("dashboardKey", apiKey.id)}>This key’s page</a>
      </p>
    </DashboardLayout>
  )
}

function NewKeySection({ apiKey, keyText, baseUrl }: Pick<NewKeyPageProps, "apiKey" | "keyText" | "baseUrl">) {
  return (
    <>
      {apiKey.kind === "secret" ? (
        <p class="told">
          Copy it now and keep it safe: <strong>you cannot see this key again.</strong>
        </p>
      ) : null}
      <p>
        <bdi>{apiKey.name}</bdi>, {KIND_DESCRIPTIONS[apiKey.kind]}
      </p>
      <div class="secret">
        <code class="copied">{keyText}</code>
      </div>
      {apiKey.kind === "secret" ? (
        <CodeBlock caption="Try it in a terminal" code={curlCommand(baseUrl, EXAMPLE_EMAIL, keyText)} />
      ) : (
        <>
          <FormScriptSnippet apiKey={apiKey} keyText={keyText} baseUrl={baseUrl} />
          <details>
            <summary>With a script of your own</summary>
            <CodeBlock caption="In your script" code={browserExample(baseUrl, keyText)} />
          </details>
        </>
      )}
    </>
  )
}

const KIND_DESCRIPTIONS: { readonly [K in KeyKind]: string } = {
  secret:
    "a secret key: for your server, with all endpoints and full results. Anyone who has it can use up your units.",
  publishable: "a publishable key: for your web pages, with short results. Anybody can see it.",
}

/** An address whose verdict needs no DNS. */
const EXAMPLE_EMAIL = "jane@stripe.com"

/** The same check in the script of a web page. */
const browserExample = (baseUrl: string, key: string): string =>
  [
    ["const answer = await fetch(", JSON.stringify(`${baseUrl}${ROUTES.postCheck.path}`), ", {"].join(""),
    '  method: "POST",',
    "  headers: {",
    `    Authorization: "Bearer ${key}",`,
    '    "Content-Type": "application/json",',
    "  },",
    `  body: JSON.stringify({ email: "${EXAMPLE_EMAIL}" }),`,
    "})",
    "const { recommendation } = await answer.json()",
  ].join("\n")

/** The response to a form that was sent twice. The key exists, and its text cannot be displayed again. */
export function KeyCreatedBeforePage({ user, apiKey }: Pick<NewKeyPageProps, "user" | "apiKey">) {
  return (
    <DashboardLayout route="keys" title="This key was created before" user={user}>
      <p class="lead">
        The form was sent twice. No second key was created: <bdi>{apiKey.name}</bdi> <KeyLast4 apiKey={apiKey} /> exists
        already. It was shown when it was created.
      </p>
      <p>
        If you did not copy it, <a href={pathWithId("dashboardKey", apiKey.id)}>revoke it</a> and{" "}
        <a href={`${ROUTES.keys.path}#new`}>create another</a>.
      </p>
    </DashboardLayout>
  )
}
