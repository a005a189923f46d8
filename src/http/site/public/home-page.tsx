/** @jsxImportSource preact */

import { LIMITS } from "../../../contract/limits.ts"
import type { CheckResult } from "../../../contract/result-schema.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { ActionButton, FormError } from "../ui/forms.tsx"
import { Layout } from "../ui/layout.tsx"
import type { DisplayedVerdict } from "../ui/verdict/reason-words.ts"
import { VERDICT_ID, VerdictCard } from "../ui/verdict/verdict-card.tsx"
import { isUnreadable, RECOMMENDATION_LABELS, verdictHeadline } from "../ui/verdict/verdict-words.ts"
import { SignUpLink } from "../ui/visitor.tsx"
import type { HomeFacts } from "./home-facts.ts"
import { Feed, FirstCall, Pricing, Proof, Reasons, SelfHosting } from "./home-sections.tsx"

type HomePageProps = {
  readonly facts: HomeFacts
  readonly form?: CheckFormState
  /** Why the request was refused, unless the input is at fault; null: it was not. */
  readonly error?: string | null
  /** Null: nothing was checked. */
  readonly verdict?: DisplayedVerdict | null
}

/** The home page: the free checker, what the API does, and its limits. After a check the verdict comes first. */
export function HomePage({ facts, form = EMPTY_CHECK_FORM, error = null, verdict = null }: HomePageProps) {
  return (
    <Layout
      route="home"
      title={TITLE}
      {...(verdict === null ? {} : { tabTitle: verdictTitle(verdict) })}
      hero={
        verdict === null ? (
          <Hero facts={facts} form={form} error={error} />
        ) : (
          <CheckedHero facts={facts} form={form} verdict={verdict} />
        )
      }
    >
      {verdict === null ? (
        <div class="home">
          <Proof facts={facts} />
          <FirstCall facts={facts} />
          <Reasons />
          <Pricing facts={facts} />
          <SelfHosting />
        </div>
      ) : null}
    </Layout>
  )
}

const TITLE = "Know who’s behind every sign-up"

/** The title of the tab tells the verdict, so that screen readers begin with it. */
const verdictTitle = (verdict: DisplayedVerdict): string => {
  const { recommendation, domain } = verdict.result
  const subject = domain === null || isUnreadable(verdict.result) ? "" : `: ${domain}`
  return `${RECOMMENDATION_LABELS[recommendation]} – ${verdictHeadline(verdict)}${subject} · mailkind`
}

type HeroProps = { readonly facts: HomeFacts; readonly form: CheckFormState; readonly error: string | null }

/** What it is for, with the form, and the product at work beside it. */
function Hero({ facts, form, error }: HeroProps) {
  return (
    <div class="hero">
      <div>
        <h1>{TITLE}</h1>
        <p class="lead">
          One API call tells a company from a free mailbox, a disposable address or a typo, and says why. Let the good
          ones in and stop the rest at the form.
        </p>
        <FormError message={error} />
        {facts.hasChecker ? (
          <CheckForm {...form} />
        ) : (
          <p class="actions">
            <SignUpLink class="button" />{" "}
            <a class="button" href={ROUTES.docsGuide.path}>
              Read the docs
            </a>
          </p>
        )}
      </div>
      <Feed facts={facts} />
    </div>
  )
}

type CheckedHeroProps = Pick<HeroProps, "facts" | "form"> & { readonly verdict: DisplayedVerdict }

/** The verdict, with the form for the next check below it. */
function CheckedHero({ form, verdict }: CheckedHeroProps) {
  const corrected = correctedInput(verdict.result)
  return (
    <>
      <h1 class="unseen">{TITLE}</h1>
      <VerdictCard
        verdict={verdict}
        besideSuggestion={
          corrected === null ? null : (
            <ActionButton
              path={`${ROUTES.postHome.path}#${VERDICT_ID}`}
              fields={{ [INPUT_FIELD]: corrected }}
              label={`Check ${corrected}`}
            />
          )
        }
        moreActions={
          <a class="button small" href={`#${INPUT_FIELD}`}>
            Check another
          </a>
        }
      />
      <h2 id="next">Check another</h2>
      <CheckForm {...form} />
    </>
  )
}

/** The input with the suggested domain. Null when the result suggests none. */
function correctedInput({ email, did_you_mean: suggestion }: CheckResult): string | null {
  if (suggestion === null || email === null) return suggestion
  return `${email.slice(0, email.lastIndexOf("@"))}@${suggestion}`
}

/** The form field for the address, domain or URL to check. */
export const INPUT_FIELD = "input"

/** The state of the check form. */
export type CheckFormState = {
  readonly input: string
  /** What is wrong with the input; null: nothing. */
  readonly error: string | null
}

/** The form before anything was entered. */
export const EMPTY_CHECK_FORM: CheckFormState = { input: "", error: null }

/** The form of the free checker. It is sent by POST, so that no URL and no log holds the address. */
function CheckForm({ input, error }: CheckFormState) {
  return (
    <search>
      <form class="ask" method="post" action={`${ROUTES.postHome.path}#${VERDICT_ID}`}>
        <label class="unseen" for={INPUT_FIELD}>
          Email address, domain or website
        </label>
        <div class="ask-row">
          <input
            id={INPUT_FIELD}
            name={INPUT_FIELD}
            type="text"
            inputMode="email"
            required
            maxLength={LIMITS.urlLengthMax}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={input}
            placeholder="jane@company.com"
            aria-describedby={error === null ? `${INPUT_FIELD}-hint` : `${INPUT_FIELD}-fault ${INPUT_FIELD}-hint`}
            {...(error === null ? {} : { "aria-invalid": true })}
          />
          <button type="submit">Check</button>
        </div>
        {error === null ? null : (
          <p class="fault" id={`${INPUT_FIELD}-fault`} role="alert">
            {error}
          </p>
        )}
        <p class="hint" id={`${INPUT_FIELD}-hint`}>
          Free, no account. No email is sent, and nothing you enter is stored.
        </p>
      </form>
    </search>
  )
}
