/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { CheckForm, PolicyChoice } from "../ui/check-form.tsx"
import { Layout } from "../ui/layout.tsx"
import { Notice } from "../ui/panels.tsx"
import { type CheckedVerdict, VerdictCard } from "../ui/verdict/verdict-card.tsx"
import { isUnreadable, RECOMMENDATION_LABELS, verdictHeadline } from "../ui/verdict/verdict-words.ts"
import { SignUpLink } from "../ui/visitor.tsx"
import { CHECKER } from "./home-page.tsx"

type ResultPageProps = { readonly input: string; readonly verdict: CheckedVerdict }

/** What the free checker answers: the form with what was checked, the verdict, and the way to an own form. */
export function ResultPage({ input, verdict }: ResultPageProps) {
  return (
    <Layout
      route="home"
      title="Check an address"
      tabTitle={tabTitle(verdict)}
      hero={<h1 class="unseen">Check an address</h1>}
    >
      <CheckForm {...CHECKER} value={input} error={null}>
        <div class="ask-options">
          <PolicyChoice selected={verdict.result.policy} />
        </div>
      </CheckForm>
      <VerdictCard verdict={verdict} form={{ path: CHECKER.action, field: CHECKER.name }} />
      <Notice
        action={
          <p class="actions">
            <SignUpLink class="button small primary" />
            <a class="button small" href={ROUTES.docsStart.path}>
              Quick start
            </a>
          </p>
        }
      >
        The same answer in your sign-up form takes one request.
      </Notice>
    </Layout>
  )
}

/** Tells the verdict, so that screen readers begin with it. */
function tabTitle(verdict: CheckedVerdict): string {
  const { recommendation, domain } = verdict.result
  const subject = domain === null || isUnreadable(verdict.result) ? "" : `: ${domain}`
  return `${RECOMMENDATION_LABELS[recommendation]} – ${verdictHeadline(verdict)}${subject} · mailkind`
}
