/** @jsxImportSource preact */
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { ROUTES } from "../../../contract/routes.ts"
import type { Viewer } from "../../exchange.ts"
import { ActionButton } from "./forms.tsx"

/** What a server offers to strangers. */
export type ServerOffer = {
  /** Whether everybody can sign up. */
  readonly isSignUpOpen: boolean
  /** Whether the home page tells prices. */
  readonly hasPricing: boolean
}

/** What the server of a page offers. */
export const Offer = createContext<ServerOffer>({ isSignUpOpen: true, hasPricing: false })

/** Who looks at a page. Null: nobody who is signed in. */
export const Viewing = createContext<Viewer | null>(null)

type SignUpLinkProps = {
  readonly class: string
  /** What the link says where everybody can sign up. */
  readonly label?: string
}

/** Leads strangers to the sign-in and offers a key only where they get one. It leads whoever is signed in to the dashboard. */
export function SignUpLink({ class: className, label = "Get a free key" }: SignUpLinkProps) {
  const isOpen = useContext(Offer).isSignUpOpen
  return useContext(Viewing) === null ? (
    <a class={className} href={ROUTES.signIn.path}>
      {isOpen ? label : "Sign in"}
    </a>
  ) : (
    <a class={className} href={ROUTES.dashboard.path}>
      Dashboard
    </a>
  )
}

const SignInLink = () => <a href={ROUTES.signIn.path}>Sign in</a>

/** The same on the pages of the sign-in, whose form does what its button would lead to. */
export const SigningVisitor = () =>
  useContext(Viewing) === null ? (
    <div class="who">
      <SignInLink />
    </div>
  ) : (
    <Visitor />
  )

/** The right of the header: the sign-in, or the menu of who is signed in, which opens without a script. */
export function Visitor() {
  const viewer = useContext(Viewing)
  const isOpen = useContext(Offer).isSignUpOpen
  if (viewer === null)
    return (
      <div class="who">
        {isOpen ? <SignInLink /> : null}
        <SignUpLink class="button small primary" />
      </div>
    )
  return (
    <div class="who">
      <a href={ROUTES.dashboard.path}>Dashboard</a>
      <details class="menu">
        <summary>
          <span class="unseen">Account menu of </span>
          <bdi class="email">{viewer.email}</bdi>
        </summary>
        <div class="menu-items">
          <a href={ROUTES.dashboard.path}>Dashboard</a>
          <a href={ROUTES.account.path}>Account</a>
          {viewer.isAdmin ? <a href={ROUTES.admin.path}>Administration</a> : null}
          <ActionButton path={ROUTES.postSignOut.path} label="Sign out" />
        </div>
      </details>
    </div>
  )
}
