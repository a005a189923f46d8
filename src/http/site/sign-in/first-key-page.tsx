/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { curlLine } from "../curl-line.ts"
import { Done } from "../fields.tsx"
import { Layout, Sample } from "../layout.tsx"

/** An address that needs no DNS for its verdict. */
const EXAMPLE = "jane@gmail.com"

type Props = {
  readonly email: string
  /** The key itself: this page is where it is shown, once. */
  readonly text: string
  readonly baseUrl: string
  readonly next: string
  readonly scripts: readonly string[]
}

/** What a first sign-in is answered with: the account's first key, and a command that works with it. */
export function FirstKeyPage({ email, text, baseUrl, next, scripts }: Props) {
  return (
    <Layout route="signIn" title="Welcome" scripts={scripts}>
      <Done says="Your account is made, and you are signed in." />
      <p>
        You are <strong>{email}</strong>. This is the first key of your account:
      </p>
      <div class="secret">
        <code class="copied">{text}</code>
      </div>
      <p class="told">
        It is shown only now: copy it to where your program keeps its secrets, which is not its code. If it gets lost,
        revoke it and create another; an account has up to {LIMITS.keysPerAccountMax}.
      </p>
      <h2>Try it</h2>
      <p>Paste this into a shell.</p>
      <Sample caption="Command" code={curlLine(baseUrl, EXAMPLE, text)} isCopied={true} />
      <p>
        <a class="button" href={next}>
          Go on to the dashboard
        </a>
      </p>
    </Layout>
  )
}
