/** @jsxImportSource preact */

import { useContext } from "preact/hooks"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { InsecurePageNotice, PassForm, type PassPageAssets } from "../pass.tsx"
import { Layout } from "../ui/layout.tsx"
import { Offer, SignUpLink } from "../ui/visitor.tsx"
import { INPUT_FIELD } from "./home-page.tsx"

type PassPageProps = {
  /** Null: the visitor's browser cannot solve the puzzle. */
  readonly assets: PassPageAssets | null
  readonly input: string
}

/** Obtains a pass by a proof of work, then sends the check again by itself. */
export function PassPage({ assets, input }: PassPageProps) {
  if (assets === null)
    return (
      <Layout route="home" title="No free checks left today">
        <p class="lead">
          You have used today’s {LIMITS.freeChecksPerClientAndDay} free checks, or too many people are checking. A key
          gives you more checks and needs no puzzle.
        </p>
        <InsecurePageNotice />
        <p class="actions">
          <SignUpLink class="button" label="Sign in for a free key" />
          <a href={ROUTES.home.path}>Back to the home page</a>
        </p>
      </Layout>
    )
  return (
    <Layout route="home" title="One moment, please" styles={[assets.styles]} scripts={[assets.widget, assets.script]}>
      <p class="lead">
        You have used today’s {LIMITS.freeChecksPerClientAndDay} free checks, or too many people are checking. Your
        browser now solves a short puzzle for you. You then have {LIMITS.passChecks} more checks for{" "}
        {LIMITS.passMinutes} minutes.
      </p>
      <PassForm
        assets={assets}
        path={ROUTES.postHome.path}
        fields={{ [INPUT_FIELD]: input }}
        challenge={null}
        alternatives={<Alternatives />}
      />
    </Layout>
  )
}

function Alternatives() {
  const isSignUpOpen = useContext(Offer).isSignUpOpen
  return (
    <>
      The puzzle needs a recent browser. You can also{" "}
      <a href={ROUTES.signIn.path}>{isSignUpOpen ? "sign in for a free key" : "sign in"}</a>, come back tomorrow, or go{" "}
      <a href={ROUTES.home.path}>back to the home page</a>.
    </>
  )
}
