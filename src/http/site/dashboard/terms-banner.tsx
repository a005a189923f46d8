/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import type { TermsState } from "../../../customers/terms/held-terms.ts"
import { ActionButton, Instant } from "../fields.tsx"

/** Terms that wait to be accepted, until when or since when, and the button that does it; nothing where none wait. */
export function TermsBanner({ terms }: { readonly terms: TermsState }) {
  if (terms.kind === "accepted") return null
  return (
    <section class={terms.kind === "grace" ? "told" : "fault boxed"} aria-label="Terms to accept">
      <p>
        {terms.kind === "grace" ? (
          <>
            <strong>The terms have changed.</strong> Please read version {terms.version} and accept it before{" "}
            <Instant atMs={terms.endsAtMs} />. Until then your keys work unchanged; after that, requests with your keys
            are refused.
          </>
        ) : (
          <>
            <strong>Requests with your keys are refused</strong>, since <Instant atMs={terms.sinceMs} />: the terms of
            version {terms.version} have not been accepted. They work again as soon as you accept.
          </>
        )}
      </p>
      <div class="actions">
        <a class="button small" href={terms.url} rel="noopener noreferrer" target="_blank">
          Read version {terms.version}
          <span class="unseen"> (opens in another tab)</span>
        </a>
        <ActionButton path={ROUTES.postTermsAcceptance.path} fields={{ version: terms.version }} label="I accept" />
      </div>
    </section>
  )
}
