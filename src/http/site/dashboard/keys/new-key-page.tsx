/** @jsxImportSource preact */
import { LIMITS } from "../../../../contract/limits.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { KeyKind } from "../../../../customers/keys/key-format.ts"
import type { ApiKey } from "../../../../customers/keys/keys.ts"
import type { SignedInUser } from "../../guards.ts"
import { pathWithId } from "../../links.ts"
import { curlCommand } from "../../ui/format.ts"
import { FormError, LinkButton, RadioCards } from "../../ui/forms.tsx"
import { CodeBlock } from "../../ui/layout.tsx"
import { Panel } from "../../ui/panels.tsx"
import { type CellColumn, RowTable } from "../../ui/table.tsx"
import { DashboardLayout } from "../dashboard-layout.tsx"
import { KeyFields, type KeyFieldsProps } from "./key-fields.tsx"
import { errorAt, type NewKeyValues } from "./key-settings.ts"
import { FormScriptSnippet, KEY_KIND_LABELS, KeyLast4 } from "./key-summary.tsx"
import { KEY_NAME, LAST_USED } from "./keys-page.tsx"

type NewKeyPageProps = KeyFieldsProps & {
  readonly user: SignedInUser
  readonly values: NewKeyValues
  /** The active keys of the account. */
  readonly active: readonly ApiKey[]
}

/** The form for a new key, or what to do first when the account has reached its limit. */
export function NewKeyPage({ user, active, ...fields }: NewKeyPageProps) {
  const { values, errors } = fields
  return (
    <DashboardLayout route="newKey" title="New key" user={user}>
      <FormError message={errorAt("form", errors)} />
      {active.length >= LIMITS.keysPerAccountMax ? (
        <Panel title={`You have ${LIMITS.keysPerAccountMax} keys, the most an account can have. Revoke one first.`}>
          <RowTable caption="Active keys" columns={REVOCABLE_COLUMNS} rows={active} />
        </Panel>
      ) : (
        <form class="form" method="post" action={ROUTES.postKey.path}>
          <input type="hidden" name="idempotency_key" value={values.idempotencyKey} />
          <KeyFields {...fields} kind={null}>
            <RadioCards
              {...{ name: "kind", legend: "Kind", cards: KIND_CARDS, selected: values.kind }}
              error={errorAt("kind", errors)}
            />
          </KeyFields>
          <button type="submit">Create key</button>
        </form>
      )}
    </DashboardLayout>
  )
}

const REVOCABLE_COLUMNS: readonly CellColumn<ApiKey>[] = [
  KEY_NAME,
  LAST_USED,
  {
    ...{ name: "", kind: "actions", onPhone: "first" },
    cell: ({ id, name }) => (
      <LinkButton
        {...{ path: `${pathWithId("dashboardKey", id)}#revoke`, look: "small danger" }}
        label={["Revoke", <span key="name" class="unseen">{` ${name}`}</span>]}
      />
    ),
  },
]

/** The kinds as the form describes them. */
const KIND_CARDS: readonly { readonly value: KeyKind; readonly label: string; readonly description: string }[] = [
  { value: "secret", label: "Secret", description: "For your server. Full results, all endpoints. Keep it private." },
  {
    ...{ value: "publishable", label: "Publishable" },
    description: "For web pages. Short answers, and only from your websites. Anybody can see it.",
  },
]

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
        <LinkButton path={ROUTES.keys.path} label="Done" />
        <LinkButton path={pathWithId("dashboardKey", apiKey.id)} label="Change its limits" look="quiet" />
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
        <LinkButton path={ROUTES.newKey.path} label="Create another key" />
        <LinkButton path={`${pathWithId("dashboardKey", apiKey.id)}#revoke`} label="Revoke this one" look="quiet" />
      </p>
    </DashboardLayout>
  )
}
