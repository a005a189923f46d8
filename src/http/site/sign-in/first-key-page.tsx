/** @jsxImportSource preact */
import { curlCommand } from "../ui/format.ts"
import { FlashMessage } from "../ui/forms.tsx"
import { CodeBlock, Layout } from "../ui/layout.tsx"

/** An address whose verdict needs no DNS. */
const EXAMPLE_EMAIL = "jane@gmail.com"

type FirstKeyPageProps = {
  readonly email: string
  /** The key itself, which is displayed only here. */
  readonly keyText: string
  readonly baseUrl: string
  readonly next: string
}

/** The response to a first sign-in: the account's first key, and a command that uses it. */
export function FirstKeyPage({ email, keyText, baseUrl, next }: FirstKeyPageProps) {
  return (
    <Layout route="signIn" title="Welcome">
      <FlashMessage message="Account created. You are signed in." />
      <p class="lead">
        This is the first API key of <strong>{email}</strong>.
      </p>
      <div class="secret">
        <code class="copied">{keyText}</code>
      </div>
      <p class="told">
        Copy it now: you won’t see it again. Store it in an environment variable, never in code. If you lose it, revoke
        it and create another.
      </p>
      <CodeBlock
        caption="Paste this into a terminal"
        language="sh"
        code={curlCommand(baseUrl, EXAMPLE_EMAIL, keyText)}
      />
      <p>
        <a class="button" href={next}>
          Open your dashboard
        </a>
      </p>
    </Layout>
  )
}
