/** @jsxImportSource preact */
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { ROUTES } from "../../../contract/routes.ts"

/** Whether everybody can sign up at this server. */
export const SignUpOpen = createContext(true)

type SignUpLinkProps = {
  readonly class: string
  /** What the link says where everybody can sign up. */
  readonly label?: string
}

/** Leads to the sign-in. It offers a key only where strangers get one. */
export function SignUpLink({ class: className, label = "Get a free key" }: SignUpLinkProps) {
  return (
    <a class={className} href={ROUTES.signIn.path}>
      {useContext(SignUpOpen) ? label : "Sign in"}
    </a>
  )
}
