/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import type { KeyKind } from "../../../customers/keys/key-form.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import { curlLine } from "../curl-line.ts"
import { Sample } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"
import { pathOfKey } from "./key-paths.ts"
import { LastFour } from "./key-words.tsx"

type Props = {
  readonly visitor: Visitor
  readonly made: Key
  /** The key itself. */
  readonly text: string
  readonly baseUrl: string
  /** The path of the script that copies. */
  readonly copyScript: string
}

/** The one page that ever shows a key, and how to use it. */
export function NewKeyPage({ visitor, made, text, baseUrl, copyScript }: Props) {
  return (
    <DashboardLayout route="dashboard" title="Your new key" visitor={visitor} scripts={[copyScript]}>
      <NewKey made={made} text={text} baseUrl={baseUrl} />
      <p>
        <a href={ROUTES.dashboard.path}>All keys</a> · <a href={pathOfKey(made.id)}>This key’s page</a>
      </p>
    </DashboardLayout>
  )
}

/** A new key, this once, with a command that uses it; the page that shows it runs `copy.js`. */
export function NewKey({
  made,
  text,
  baseUrl,
}: {
  readonly made: Key
  readonly text: string
  readonly baseUrl: string
}) {
  return (
    <>
      <p class="told">
        Copy it now and keep it safe: <strong>this key will not be shown again.</strong>
      </p>
      <p>
        <bdi>{made.name}</bdi>, {PURPOSE[made.kind]}
      </p>
      <div class="secret">
        <code class="copied">{text}</code>
      </div>
      {made.kind === "secret" ? (
        <Sample caption="Try it in a terminal" code={curlLine(baseUrl, EXAMPLE, text)} isCopied />
      ) : (
        <Sample caption={`In a page of ${made.origins.join(", ")}`} code={pageScript(baseUrl, text)} isCopied />
      )}
    </>
  )
}

const PURPOSE: { readonly [K in KeyKind]: string } = {
  secret: "a secret key: for your server, with all endpoints and full results. Whoever has it can use up your units.",
  publishable: "a publishable key: for your web pages, with short results. It may be read by anybody.",
}

/** An address that needs no DNS for its verdict. */
const EXAMPLE = "jane@stripe.com"

/** Lines of a page's script that do the same. */
const pageScript = (baseUrl: string, key: string): string =>
  [
    ["const answer = await fetch(", JSON.stringify(`${baseUrl}${ROUTES.postCheck.path}`), ", {"].join(""),
    '  method: "POST",',
    "  headers: {",
    `    Authorization: "Bearer ${key}",`,
    '    "Content-Type": "application/json",',
    "  },",
    `  body: JSON.stringify({ email: "${EXAMPLE}" }),`,
    "})",
    "const { recommendation } = await answer.json()",
  ].join("\n")

/** What a form is answered that was sent again: its key is there, and nobody has its text. */
export function CreatedBeforePage({ visitor, made }: Pick<Props, "visitor" | "made">) {
  return (
    <DashboardLayout route="dashboard" title="This key was created before" visitor={visitor}>
      <p class="lead">
        The same form was sent twice, and no second key was made: <bdi>{made.name}</bdi> <LastFour of={made} /> is there
        already. It was shown when it was created.
      </p>
      <p>
        If you did not copy it, <a href={pathOfKey(made.id)}>revoke it</a> and{" "}
        <a href={`${ROUTES.dashboard.path}#new`}>create another</a>.
      </p>
    </DashboardLayout>
  )
}
