/** @jsxImportSource preact */
import { ROUTES } from "../../../../contract/routes.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { curlCommand } from "../../ui/format.ts"
import { CodeBlock } from "../../ui/layout.tsx"
import { Panel } from "../../ui/panels.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { FormScriptSnippet } from "./form-script-snippet.tsx"
import { KEY_KIND_LABELS, KeyLast4 } from "./key-summary.tsx"
import { NewKeyForm, type NewKeyFormProps } from "./new-key-form.tsx"

/** The form for a new key. */
export function NewKeyPage({ user, ...form }: NewKeyFormProps & { readonly user: SignedInUser }) {
  return (
    <DashboardLayout route="newKey" title="New key" user={user}>
      <NewKeyForm {...form} />
    </DashboardLayout>
  )
}

type CreatedKeyPageProps = {
  readonly user: SignedInUser
  readonly apiKey: ApiKey
  /** The key itself. */
  readonly keyText: string
  readonly baseUrl: string
}

/** Displays a new key and how to use it. No other page displays a secret key. */
export function CreatedKeyPage({ user, apiKey, keyText, baseUrl }: CreatedKeyPageProps) {
  const isSecret = apiKey.kind === "secret"
  return (
    <DashboardLayout route="newKey" title="Your new key" user={user}>
      <Panel title={<bdi>{apiKey.name}</bdi>} link={<span>{KEY_KIND_LABELS[apiKey.kind]}</span>}>
        <div class="secret">
          <code class="copied">{keyText}</code>
        </div>
        <p>
          {isSecret ? (
            <>
              Copy it now: <strong>you cannot see this key again.</strong> Store it in an environment variable, never in
              code. Anyone who has it can use up your units.
            </>
          ) : (
            "It works on your websites alone, with short results. Anybody can see it."
          )}
        </p>
        {isSecret ? (
          <CodeBlock caption="Try it in a terminal" language="sh" code={curlCommand(baseUrl, EXAMPLE_EMAIL, keyText)} />
        ) : (
          <>
            <FormScriptSnippet apiKey={apiKey} keyText={keyText} baseUrl={baseUrl} />
            <details>
              <summary>With a script of your own</summary>
              <CodeBlock caption="In your script" code={browserExample(baseUrl, keyText)} />
            </details>
          </>
        )}
      </Panel>
      <p class="actions">
        <a class="button" href={ROUTES.keys.path}>
          Done
        </a>
        <a class="button quiet" href={pathWithId("dashboardKey", apiKey.id)}>
          Change its limits
        </a>
      </p>
    </DashboardLayout>
  )
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
export function KeyCreatedBeforePage({ user, apiKey }: Pick<CreatedKeyPageProps, "user" | "apiKey">) {
  return (
    <DashboardLayout route="newKey" title="This key was created before" user={user}>
      <p class="lead">
        The form was sent twice. No second key was created: <bdi>{apiKey.name}</bdi> <KeyLast4 apiKey={apiKey} /> exists
        already. It was shown when it was created.
      </p>
      <p>If you did not copy it, revoke it and create another.</p>
      <p class="actions">
        <a class="button" href={ROUTES.newKey.path}>
          Create another key
        </a>
        <a class="button quiet" href={`${pathWithId("dashboardKey", apiKey.id)}#revoke`}>
          Revoke this one
        </a>
      </p>
    </DashboardLayout>
  )
}
