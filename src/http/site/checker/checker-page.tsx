/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { ActionButton, Refused } from "../fields.tsx"
import { Layout } from "../layout.tsx"
import { VerdictView } from "../verdict/verdict-view.tsx"
import { type Asked, AskForm, INPUT, NOT_ASKED } from "./ask-form.tsx"
import { MEANINGS } from "./meanings.ts"
import { QuickStart, type QuickStartProps } from "./quick-start.tsx"

type Props = QuickStartProps & {
  /** False: the operator offers no free checks. */
  readonly hasChecker: boolean
  readonly asked?: Asked
  /** What kept the whole form from being answered; null: nothing. */
  readonly refusal?: string | null
  /** Null: nothing was checked. */
  readonly result?: CheckResult | null
}

/** The first page: the free checker, its verdict once something was checked, and what else this server is. */
export function CheckerPage(props: Props) {
  const { hasChecker, asked = NOT_ASKED, refusal = null, result = null } = props
  return (
    <Layout route="home" title="What is behind an address?">
      <p class="lead">
        mailkind tells what an email address, a domain or a website is: a business, a free mailbox, a throw-away one, a
        privacy relay, a school, a government body, or nothing that exists.
      </p>
      <Refused says={refusal} />
      {hasChecker ? <AskForm {...asked} /> : null}
      {result === null ? null : <Result result={result} />}
      <QuickStart baseUrl={props.baseUrl} testDomain={props.testDomain} />
      {hasChecker ? <FinePrint /> : null}
    </Layout>
  )
}

function Result({ result }: { readonly result: CheckResult }) {
  const meant = correctedInput(result)
  return (
    <VerdictView
      result={result}
      meaning={MEANINGS[result.category]}
      besideSuggestion={
        meant === null ? null : (
          <ActionButton path={ROUTES.postHome.path} fields={{ [INPUT]: meant }} label={`Check ${meant}`} />
        )
      }
    />
  )
}

/** What was asked about with the domain that was likely meant; null: it was likely meant as it is. */
function correctedInput({ email, did_you_mean: suggestion }: CheckResult): string | null {
  if (suggestion === null || email === null) return suggestion
  return `${email.slice(0, email.lastIndexOf("@"))}@${suggestion}`
}

function FinePrint() {
  return (
    <>
      <h2 id="free">How free it is</h2>
      <p>
        {LIMITS.freeChecksPerClientAndDay} checks a day are simply answered. For more, your browser does a short piece
        of arithmetic, about a second long, which is worth {LIMITS.passChecks} checks within {LIMITS.passMinutes}{" "}
        minutes: it keeps programs from using up what is there for people. All visitors share a number of checks a day.
        With a <a href={ROUTES.signIn.path}>key of your own</a> none of this concerns you.
      </p>
      <p>
        What you check is not stored and not logged. Of your network address only a keyed hash is kept, until the end of
        the next day.
      </p>
    </>
  )
}
