/** @jsxImportSource preact */
import { h } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { CHALLENGE_ALGORITHM } from "../../../customers/free-checks/challenges.ts"
import { Layout } from "../layout.tsx"
import { INPUT, SOLUTION } from "./ask-form.tsx"

/** Paths of what the page loads. */
export type PassFiles = {
  readonly widget: string
  readonly looks: string
  readonly worker: string
  readonly script: string
}

type Props = { readonly files: PassFiles; readonly typed: string }

/** Nothing that leads elsewhere, nothing that watches the visitor, and no wait beyond what the arithmetic takes. */
const WIDGET = {
  challenge: ROUTES.getPassChallenge.path,
  language: "en",
  configuration: JSON.stringify({
    hideFooter: true,
    hideLogo: true,
    humanInteractionSignature: false,
    minDuration: 0,
  }),
} as const

/** The page that gets a pass, and goes on with the check by itself when it has one. */
export function PassPage({ files, typed }: Props) {
  return (
    <Layout
      route="home"
      title="One moment, please"
      styles={[files.looks]}
      // The widget first: what comes after sets it to work.
      scripts={[files.widget, files.script]}
    >
      <p class="lead">
        You have used your {LIMITS.freeChecksPerClientAndDay} checks of the day without a pass, or your pass is over.
        Your browser now gets you one, for {LIMITS.passChecks} checks within {LIMITS.passMinutes} minutes, by a short
        piece of arithmetic. Nobody is asked to read letters or to find traffic lights.
      </p>
      <PassForm files={files} typed={typed} />
      <p>
        <a href={ROUTES.signIn.path}>Sign in for a free key</a> · <a href={ROUTES.home.path}>Back to the first page</a>
      </p>
    </Layout>
  )
}

function PassForm({ files, typed }: Props) {
  return (
    <form
      class="form pass"
      method="post"
      action={ROUTES.postHome.path}
      data-algorithm={CHALLENGE_ALGORITHM}
      data-worker={files.worker}
    >
      <input type="hidden" name={INPUT} value={typed} />
      <input type="hidden" name={SOLUTION} value="" />
      {/* Above the widget, which lays a few words of its own over what stands below it. */}
      <p class="boxed fault" role="alert" hidden>
        That did not work. Tick the box to try once more. {OTHERWISE}
      </p>
      {h("altcha-widget", WIDGET)}
      <noscript>
        <p class="told">The arithmetic needs JavaScript, which is off in your browser. {OTHERWISE}</p>
      </noscript>
    </form>
  )
}

/** It needs what browsers have on HTTPS and on loopback alone (`crypto.subtle`). */
const OTHERWISE =
  "It works over HTTPS, in a browser of the last years, with JavaScript. Or come again tomorrow, or sign in for a free key: with a key there is no such page."
