/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { PassForm, type PassPageAssets } from "../pass.tsx"
import { Layout } from "../ui/layout.tsx"
import { INPUT_FIELD } from "./home-page.tsx"

type PassPageProps = { readonly assets: PassPageAssets; readonly input: string }

/** Obtains a pass by a proof of work, then sends the check again by itself. */
export function PassPage({ assets, input }: PassPageProps) {
  return (
    <Layout route="home" title="One moment, please" styles={[assets.styles]} scripts={[assets.widget, assets.script]}>
      <p class="lead">
        The {LIMITS.freeChecksPerClientAndDay} checks of the day without a pass are used up for you or your network,
        your pass is over, or so many visitors came today that everybody needs one. Your browser now gets you one, for{" "}
        {LIMITS.passChecks} checks within {LIMITS.passMinutes} minutes, by a short piece of arithmetic. Nobody is asked
        to read letters or to find traffic lights.
      </p>
      <PassForm
        assets={assets}
        path={ROUTES.postHome.path}
        fields={{ [INPUT_FIELD]: input }}
        challenge={null}
        alternatives={ALTERNATIVES}
      />
      <p>
        <a href={ROUTES.signIn.path}>Sign in for a free key</a> · <a href={ROUTES.home.path}>Back to the first page</a>
      </p>
    </Layout>
  )
}

/** The widget needs `crypto.subtle`, which browsers offer only over HTTPS and on loopback addresses. */
const ALTERNATIVES =
  "It works over HTTPS, in a browser of the last years, with JavaScript. Or come again tomorrow, or sign in for a free key: with a key there is no such page."
