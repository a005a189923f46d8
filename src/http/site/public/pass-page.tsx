/** @jsxImportSource preact */

import { useContext } from "preact/hooks"
import { ROUTES } from "../../../contract/routes.ts"
import { InsecurePageNotice, PassForm, type PassPageAssets } from "../pass.tsx"
import { Layout } from "../ui/layout.tsx"
import { Offer, SignUpLink, Viewing } from "../ui/visitor.tsx"

type PassPageProps = {
  /** Null: the visitor's browser cannot solve the puzzle. */
  readonly assets: PassPageAssets | null
  /** What the form sends again. */
  readonly fields: Readonly<Record<string, string>>
}

/** Obtains a pass by a proof of work, then sends the check again by itself. */
export function PassPage({ assets, fields }: PassPageProps) {
  const isSignUpOpen = useContext(Offer).isSignUpOpen
  if (assets === null)
    return (
      <Layout route="home" title="That’s all without a key">
        <p class="lead">
          {isSignUpOpen ? "With a free key you can continue now." : "Sign in to continue."} The free checks start again
          at 00:00 UTC.
        </p>
        <InsecurePageNotice />
        <p class="actions">
          <SignUpLink class="button" />
          <a class="button quiet" href={ROUTES.home.path}>
            Back to the home page
          </a>
        </p>
      </Layout>
    )
  return (
    <Layout route="home" title="One moment" styles={[assets.styles]} scripts={[assets.widget, assets.script]}>
      <p class="lead">Your browser solves a short puzzle, then your check continues by itself.</p>
      <PassForm
        assets={assets}
        path={ROUTES.postHome.path}
        fields={fields}
        challenge={null}
        alternatives={
          <>
            It keeps bots away.{" "}
            {useContext(Viewing) === null ? (
              <a href={ROUTES.signIn.path}>{isSignUpOpen ? "Get a free key" : "Sign in"}</a>
            ) : (
              <a href={ROUTES.tryIt.path}>Check on your dashboard</a>
            )}{" "}
            to skip it.
          </>
        }
      />
    </Layout>
  )
}
