/** @jsxImportSource preact */
import { h } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { CHALLENGE_ALGORITHM } from "../../../customers/free-checks/challenges.ts"
import { Layout } from "../ui/layout.tsx"
import { INPUT_FIELD, SOLUTION_FIELD } from "./home-page.tsx"

/** Paths of what the page loads. */
export type PassPageAssets = {
  readonly widget: string
  readonly looks: string
  readonly worker: string
  readonly script: string
}

type PassPageProps = { readonly assets: PassPageAssets; readonly input: string }

/** Nothing that leads elsewhere, nothing that watches the visitor, and no wait beyond what the arithmetic takes. */
const WIDGET_ATTRIBUTES = {
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
export function PassPage({ assets, input: typed }: PassPageProps) {
  return (
    <Layout
      route="home"
      title="One moment, please"
      styles={[assets.looks]}
      // The widget first: what comes after sets it to work.
      scripts={[assets.widget, assets.script]}
    >
      <p class="lead">
        You have used your {LIMITS.freeChecksPerClientAndDay} checks of the day without a pass, or your pass is over.
        Your browser now gets you one, for {LIMITS.passChecks} checks within {LIMITS.passMinutes} minutes, by a short
        piece of arithmetic. Nobody is asked to read letters or to find traffic lights.
      </p>
      <PassForm assets={assets} input={typed} />
      <p>
        <a href={ROUTES.signIn.path}>Sign in for a free key</a> · <a href={ROUTES.home.path}>Back to the first page</a>
      </p>
    </Layout>
  )
}

function PassForm({ assets, input: typed }: PassPageProps) {
  return (
    <form
      class="form pass"
      method="post"
      action={ROUTES.postHome.path}
      data-algorithm={CHALLENGE_ALGORITHM}
      data-worker={assets.worker}
    >
      <input type="hidden" name={INPUT_FIELD} value={typed} />
      <input type="hidden" name={SOLUTION_FIELD} value="" />
      {/* Above the widget, which lays a few words of its own over what stands below it. */}
      <p class="boxed fault" role="alert" hidden>
        That did not work. Tick the box to try once more. {ALTERNATIVES}
      </p>
      {h("altcha-widget", WIDGET_ATTRIBUTES)}
      <noscript>
        <p class="told">The arithmetic needs JavaScript, which is off in your browser. {ALTERNATIVES}</p>
      </noscript>
    </form>
  )
}

/** It needs what browsers have on HTTPS and on loopback alone (`crypto.subtle`). */
const ALTERNATIVES =
  "It works over HTTPS, in a browser of the last years, with JavaScript. Or come again tomorrow, or sign in for a free key: with a key there is no such page."
