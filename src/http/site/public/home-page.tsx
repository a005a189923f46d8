/** @jsxImportSource preact */
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import { POLICY_DEFAULT, type Policy } from "../../../contract/policies.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { innerHtml } from "../docs/html-form.tsx"
import { CheckForm } from "../ui/check-form.tsx"
import { FormError } from "../ui/forms.tsx"
import { Layout } from "../ui/layout.tsx"
import { VERDICT_ID } from "../ui/verdict/verdict.tsx"
import { SignUpLink } from "../ui/visitor.tsx"
import { type HomeFacts, type HomeSite, homeFacts } from "./home-facts.ts"
import { Comparison, Feed, FirstCall, Pricing, Proof, SelfHosting, Strengths } from "./home-sections.tsx"

type HomePageContent = {
  readonly form?: CheckFormState
  /** Why the request was refused, unless the input is at fault; null: it was not. */
  readonly error?: string | null
}

/** Makes the home page for a request. */
export type RenderHomePage = (content?: HomePageContent) => Promise<VNode>

/** Builds the home page of one server. The first calls are made once: their colours take 4 ms. */
export function createHomePage(site: HomeSite): RenderHomePage {
  let firstCalls: string | null = null
  return async ({ form = EMPTY_CHECK_FORM, error = null } = {}) => {
    const facts = await homeFacts(site)
    firstCalls ??= render(<FirstCall facts={facts} />)
    return <HomePage facts={facts} form={form} error={error} firstCalls={firstCalls} />
  }
}

type HomePageProps = HeroProps & { readonly firstCalls: string }

/** The home page: the free checker, what the API does, and its limits. */
function HomePage({ firstCalls, ...hero }: HomePageProps) {
  const { facts } = hero
  return (
    <Layout route="home" title={TITLE} hero={<Hero {...hero} />}>
      <div class="home">
        <Proof facts={facts} />
        <Comparison />
        <section {...innerHtml(firstCalls)} />
        <Pricing facts={facts} />
        <SelfHosting />
      </div>
    </Layout>
  )
}

const TITLE = "Know who’s behind every sign-up"

type HeroProps = { readonly facts: HomeFacts; readonly form: CheckFormState; readonly error: string | null }

/** What it is for, with the form, and the product at work beside it. */
function Hero({ facts, form, error }: HeroProps) {
  return (
    <div class="hero">
      <div>
        <h1>{TITLE}</h1>
        <p class="lead">
          One API call tells you if an address is a company’s, a free mailbox, disposable or a typo, and why.
        </p>
        <FormError message={error} />
        {facts.hasChecker ? (
          <CheckForm
            {...CHECKER}
            value={form.input}
            error={form.error}
            placeholder="jane@company.com"
            hint="Free. No email is sent, and nothing you enter is stored."
          />
        ) : (
          <p class="actions">
            <SignUpLink class="button" />{" "}
            <a class="button quiet" href={ROUTES.docsGuide.path}>
              Read the docs
            </a>
          </p>
        )}
        <Strengths />
      </div>
      <Feed facts={facts} />
    </div>
  )
}

/** The form field for the address, domain or URL to check. */
export const INPUT_FIELD = "input"

/** The form of the free checker. It is sent by POST, so that no URL and no log holds the address. */
export const CHECKER = {
  method: "post",
  action: `${ROUTES.postHome.path}#${VERDICT_ID}`,
  name: INPUT_FIELD,
  label: "Email address, domain or website",
} as const

/** The state of the check form. */
export type CheckFormState = {
  readonly input: string
  /** What is wrong with the input; null: nothing. */
  readonly error: string | null
  readonly policy: Policy
}

/** The form before anything was entered. */
export const EMPTY_CHECK_FORM: CheckFormState = { input: "", error: null, policy: POLICY_DEFAULT }
