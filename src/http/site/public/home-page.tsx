/** @jsxImportSource preact */

import { useContext } from "preact/hooks"
import { CATEGORIES, CATEGORY_NAMES } from "../../../contract/categories.ts"
import { LIMITS } from "../../../contract/limits.ts"
import type { CheckResult } from "../../../contract/result-schema.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { exampleDomain, exampleResult } from "../../response/example-responses.ts"
import { EXAMPLE_LANGUAGES, type ExampleFacts, exampleLanguages, exampleProgram } from "../docs/examples.ts"
import { innerHtml, operatorHtml } from "../docs/html-form.tsx"
import type { SiteContext } from "../site-context.ts"
import { curlCommand, formatNumber } from "../ui/format.ts"
import { ActionButton, FormError } from "../ui/forms.tsx"
import { CodeBlock, Layout, prettyJson, Table, Tabs } from "../ui/layout.tsx"
import type { DisplayedVerdict } from "../ui/verdict/reason-words.ts"
import { VERDICT_ID, VerdictCard } from "../ui/verdict/verdict-card.tsx"
import {
  CATEGORY_LABELS,
  isUnreadable,
  RECOMMENDATION_LABELS,
  verdictHeadline,
  verdictSentences,
} from "../ui/verdict/verdict-words.ts"
import { Offer, SignUpLink } from "../ui/visitor.tsx"

/** What the home page tells about this server. */
type HomeFacts = ExampleFacts & {
  readonly testDomain: string
  /** False: the operator offers no free checks. */
  readonly hasChecker: boolean
  /** Whether test addresses need no key. */
  readonly hasTestAddresses: boolean
  /** The limits of a new account. */
  readonly freeLimits: TierLimits
  /** What the operator says about prices. Null: nothing. */
  readonly pricing: string | null
}

/** What the home page tells about a server. */
export function homeFacts(
  site: Pick<SiteContext, "baseUrl" | "testDomain" | "freeChecks" | "tiers" | "defaultTier" | "guide" | "pricing">,
): HomeFacts {
  const { baseUrl, testDomain, freeChecks, tiers, defaultTier, guide, pricing } = site
  const freeLimits = tiers[defaultTier] ?? UNLIMITED
  return {
    baseUrl: baseUrl(),
    checkTimeoutMs: guide.checkTimeoutMs,
    testDomain: exampleDomain(testDomain),
    hasTestAddresses: testDomain !== "",
    hasChecker: freeChecks !== null,
    freeLimits,
    pricing,
  }
}

const UNLIMITED: TierLimits = { requestsPerSecond: null, inFlight: null, unitsPerDay: null }

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
      <ApiSection facts={facts} />
      {useContext(Offer).isSignUpOpen ? <LimitsSection facts={facts} /> : null}
      <CategoriesSection />
      {facts.hasChecker ? <FreeCheckTerms /> : null}
    </Layout>
  )
}

const TITLE = "Who’s behind this email?"

/** The title of the tab tells the verdict, so that screen readers begin with it. */
const verdictTitle = (verdict: DisplayedVerdict): string => {
  const { recommendation, domain } = verdict.result
  const subject = domain === null || isUnreadable(verdict.result) ? "" : `: ${domain}`
  return `${RECOMMENDATION_LABELS[recommendation]} – ${verdictHeadline(verdict)}${subject} · mailkind`
}

type HeroProps = { readonly facts: HomeFacts; readonly form: CheckFormState; readonly error: string | null }

/** The form, with a sample verdict beside it. */
function Hero({ facts, form, error }: HeroProps) {
  return (
    <div class="hero">
      <div>
        <h1>{TITLE}</h1>
        <p class="lead">
          Check an email address, a domain or a website. See if it is a business, a personal mailbox, a throw-away
          address, a school or a public body, and why.
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
      <SampleVerdict testDomain={facts.testDomain} />
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

/** A verdict as the checker shows it, shortened. It belongs to a test address, so it is always true. */
function SampleVerdict({ testDomain }: Pick<HomeFacts, "testDomain">) {
  const result = exampleResult("disposable", testDomain)
  const verdict: DisplayedVerdict = {
    result: { ...result, reasons: ["disposable_domain"], domain: SAMPLE_DOMAIN },
    imitates: null,
    isDnsOff: false,
  }
  return (
    <figure class={`card sample-verdict of-${result.category}`}>
      <figcaption>Sample verdict</figcaption>
      <p class="asked">mia@{SAMPLE_DOMAIN}</p>
      <div class="decision">
        <p class="category">{CATEGORY_LABELS[result.category]}</p>
        <p class={`stamp ${result.recommendation}`}>{RECOMMENDATION_LABELS[result.recommendation]}</p>
      </div>
      <ul class="why">
        {verdictSentences(verdict).map(({ mark, text }) => (
          <li key={text} class={mark}>
            {text}
          </li>
        ))}
        <li>A mailbox there stops working soon.</li>
      </ul>
    </figure>
  )
}

const SAMPLE_DOMAIN = "mailinator.com"

/** The form field for the address, domain or URL to check. */
export const INPUT_FIELD = "input"

/** The form field that an example's button sends. */
export const EXAMPLE_FIELD = "example"

const EXAMPLES = ["jane@stripe.com", "sam@gmail.com", "mia@mailinator.com", "paypa1.com", "info@ethz.ch"] as const

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
        <label for={INPUT_FIELD}>Email address, domain or website</label>
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
          aria-describedby={error === null ? `${INPUT_FIELD}-hint` : `${INPUT_FIELD}-fault ${INPUT_FIELD}-hint`}
          {...(error === null ? {} : { "aria-invalid": true })}
        />
        <button type="submit">Check</button>
        {error === null ? null : (
          <p class="fault" id={`${INPUT_FIELD}-fault`} role="alert">
            {error}
          </p>
        )}
        <p class="hint" id={`${INPUT_FIELD}-hint`}>
          We send no email and store nothing that you enter.
        </p>
        <p class="chips">
          Try{" "}
          {EXAMPLES.map(example => (
            <button key={example} type="submit" name={EXAMPLE_FIELD} value={example} formNoValidate>
              {example}
            </button>
          ))}
        </p>
      </form>
    </search>
  )
}

/** What the API does, with a program in each language. */
function ApiSection({ facts }: { readonly facts: HomeFacts }) {
  return (
    <>
      <h2 id="api">Add it to your sign-up</h2>
      <p>
        Send one request. You get the category, a recommendation, a confidence and the reasons.{" "}
        <a href={ROUTES.docsStart.path}>Read the quick start</a> or the <a href={ROUTES.docs.path}>API reference</a>.
      </p>
      <Tabs
        label="Language"
        name="check"
        tabs={exampleLanguages("check").map(language => {
          const { label } = EXAMPLE_LANGUAGES[language]
          return { label, content: <CodeBlock caption={label} code={exampleProgram("check", language, facts)} /> }
        })}
      />
      {facts.hasTestAddresses ? (
        <>
          <p>
            Test addresses need no key and always get the same verdict.{" "}
            <a href={ROUTES.docsTestAddresses.path}>See all test addresses</a>.
          </p>
          <CodeBlock caption="Works without a key" code={curlCommand(facts.baseUrl, `business@${facts.testDomain}`)} />
        </>
      ) : null}
      <details>
        <summary>The answer</summary>
        <CodeBlock caption="Answer" code={prettyJson(exampleResult("business", facts.testDomain))} />
      </details>
    </>
  )
}

/** What a new account may do, before anybody signs up. */
function LimitsSection({ facts: { freeLimits, pricing } }: { readonly facts: HomeFacts }) {
  const { unitsPerDay, requestsPerSecond, inFlight } = freeLimits
  return (
    <>
      <h2 id="limits">Free limits</h2>
      <dl class="figures">
        <div>
          <dt>checks per day</dt>
          <dd>{limitLabel(unitsPerDay)}</dd>
        </div>
        <div>
          <dt>requests per second</dt>
          <dd>{limitLabel(requestsPerSecond)}</dd>
        </div>
        <div>
          <dt>concurrent requests</dt>
          <dd>{limitLabel(inFlight)}</dd>
        </div>
        <div>
          <dt>items per batch</dt>
          <dd>{formatNumber(LIMITS.batchItemsMax)}</dd>
        </div>
      </dl>
      <p>
        A free key needs an email address and no card. A batch item costs as much as a check. A deep check counts as{" "}
        {LIMITS.deepCheckUnits} checks. <a href={ROUTES.docsLimits.path}>All limits</a>
      </p>
      {pricing === null ? null : <div {...innerHtml(operatorHtml(pricing))} />}
    </>
  )
}

const limitLabel = (limit: number | null): string => (limit === null ? "Unlimited" : formatNumber(limit))

function CategoriesSection() {
  return (
    <>
      <h2 id="categories">Categories</h2>
      <Table caption="Categories" columns={["Category", "Meaning", "Business"]}>
        {CATEGORY_NAMES.map(category => (
          <tr key={category}>
            <th scope="row">
              <code>{category}</code>
            </th>
            <td>{CATEGORIES[category].description}</td>
            <td>{CATEGORIES[category].isBusiness ? "yes" : "no"}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function FreeCheckTerms() {
  return (
    <>
      <h2 id="free">Limits of this page</h2>
      <p>
        You can make {LIMITS.freeChecksPerClientAndDay} checks per day right away. After that, your browser solves a
        puzzle of about one second. It is worth {LIMITS.passChecks} checks within {LIMITS.passMinutes} minutes. All
        visitors share a daily limit. With <a href={ROUTES.signIn.path}>your own key</a> these limits do not apply.
      </p>
      <p>
        We do not store or log what you check. We keep a keyed hash of your network address until the end of the next
        day. <a href={ROUTES.docsPrivacy.path}>Privacy</a>
      </p>
    </>
  )
}
