/** @jsxImportSource preact */
import { h } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { CHALLENGE_ALGORITHM } from "../../../customers/free-checks/challenges.ts"
import { Layout } from "../ui/layout.tsx"
import { INPUT_FIELD, SOLUTION_FIELD } from "./home-page.tsx"

/** The paths of the page's assets. */
export type PassPageAssets = {
  readonly widget: string
  readonly styles: string
  readonly worker: string
  readonly script: string
}

type PassPageProps = { readonly assets: PassPageAssets; readonly input: string }

/** No links to other sites, no tracking of the visitor, and no delay beyond the proof of work. */
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

/** Obtains a pass by a proof of work, then sends the check again by itself. */
export function PassPage({ assets, input }: PassPageProps) {
  return (
    <Layout
      route="home"
      title="One moment, please"
      styles={[assets.styles]}
      // The widget comes first: the script uses it.
      scripts={[assets.widget, assets.script]}
    >
      <p class="lead">
        The {LIMITS.freeChecksPerClientAndDay} checks of the day without a pass are used up for you or your network,
        your pass is over, or so many visitors came today that everybody needs one. Your browser now gets you one, for{" "}
        {LIMITS.passChecks} checks within {LIMITS.passMinutes} minutes, by a short piece of arithmetic. Nobody is asked
        to read letters or to find traffic lights.
      </p>
      <PassForm assets={assets} input={input} />
      <p>
        <a href={ROUTES.signIn.path}>Sign in for a free key</a> · <a href={ROUTES.home.path}>Back to the first page</a>
      </p>
    </Layout>
  )
}

function PassForm({ assets, input }: PassPageProps) {
  return (
    <form
      class="form pass"
      method="post"
      action={ROUTES.postHome.path}
      data-algorithm={CHALLENGE_ALGORITHM}
      data-worker={assets.worker}
    >
      <input type="hidden" name={INPUT_FIELD} value={input} />
      <input type="hidden" name={SOLUTION_FIELD} value="" />
      {/* Stands above the widget, which covers what is below it with a tooltip. */}
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

/** The widget needs `crypto.subtle`, which browsers offer only over HTTPS and on loopback addresses. */
const ALTERNATIVES =
  "It works over HTTPS, in a browser of the last years, with JavaScript. Or come again tomorrow, or sign in for a free key: with a key there is no such page."
