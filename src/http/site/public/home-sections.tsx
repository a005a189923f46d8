/** @jsxImportSource preact */

import { h } from "preact"
import { useContext } from "preact/hooks"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import { exampleResult } from "../../response/example-responses.ts"
import { innerHtml, operatorHtml } from "../docs/html-form.tsx"
import { RequestTabs } from "../reference/example-pair.tsx"
import type { SampleRequest } from "../reference/request-samples.ts"
import { formatNumber } from "../ui/format.ts"
import { CodeBlock, RecommendationBadge } from "../ui/layout.tsx"
import { Tiles } from "../ui/panels.tsx"
import { VERDICT_ID } from "../ui/verdict/verdict.tsx"
import { Offer } from "../ui/visitor.tsx"
import type { HomeFacts } from "./home-facts.ts"
import MEASURED from "./measured.json" with { type: "json" }

type SectionProps = { readonly facts: HomeFacts }

/** The form field that an example's button sends. */
export const EXAMPLE_FIELD = "example"

/** Examples with their verdicts. Each is a button where visitors can check. */
export function Feed({ facts: { examples, hasChecker } }: SectionProps) {
  const form = { method: "post", action: `${ROUTES.postHome.path}#${VERDICT_ID}` }
  return h(hasChecker ? "form" : "section", { class: "feed", "aria-label": "Examples", ...(hasChecker ? form : {}) }, [
    <p>
      <span>{hasChecker ? "Try one" : "Examples"}</span>
      <span>Live verdicts</span>
    </p>,
    ...examples.map(({ input, verdict, fact }) => {
      const button = hasChecker ? { type: "submit", name: EXAMPLE_FIELD, value: input } : {}
      return h(hasChecker ? "button" : "div", { class: "row", key: input, ...button }, [
        <b>{input}</b>,
        <RecommendationBadge recommendation={verdict.result.recommendation} />,
        <small>{fact}</small>,
      ])
    }),
  ])
}

/** What the product has shown, in four numbers. */
export function Proof({ facts: { domainsCount, listsCount } }: SectionProps) {
  const { disposable_caught: caught, median_check_ms: medianMs } = MEASURED
  const caughtLabel = `${((caught.right * 100) / caught.of).toFixed(1)}%`
  const figures = [
    [formatNumber(domainsCount), `domains on ${listsCount} open lists`],
    [caughtLabel, "of disposable domains caught in a held-out sample"],
    [`${medianMs.toPrecision(1)} ms`, "median check from the lists"],
    ["0", "addresses stored, ever"],
  ] as const
  return (
    <div class="proof">
      <Tiles tiles={figures.map(([value, label]) => ({ value, label }))} />
    </div>
  )
}

/** The first call in each language beside its answer. */
export function FirstCall({ facts }: SectionProps) {
  const { testDomain, hasTestAddresses } = facts
  return (
    <>
      <h2 id="api">A few lines in your sign-up</h2>
      <p class="sub">
        {hasTestAddresses ? "This works right now, without a key. " : null}
        <a href={ROUTES.docsStart.path}>Quick start</a> · <a href={ROUTES.docs.path}>API reference</a>
      </p>
      <div class="pair">
        <RequestTabs request={firstRequest(facts)} />
        <CodeBlock caption="Answer, shortened" code={shortAnswer(testDomain)} language="json" />
      </div>
    </>
  )
}

/** A check of a test address, which needs no key. */
const firstRequest = ({ baseUrl, testDomain }: HomeFacts): SampleRequest => ({
  ...{ method: "POST", url: `${baseUrl}${ROUTES.postCheck.path}`, needsKey: false, isAnswerJson: true },
  body: { json: { email: `business@${testDomain}` } },
})

/** The members of an answer that decide, one on a line. */
function shortAnswer(testDomain: string): string {
  const { category, recommendation, confidence, reasons, did_you_mean, is_role_account } = exampleResult(
    "business",
    testDomain,
  )
  const members = Object.entries({ category, recommendation, confidence, reasons, did_you_mean, is_role_account })
  return `{\n${members.map(([name, value]) => `  "${name}": ${JSON.stringify(value).replaceAll('","', '", "')}`).join(",\n")}\n}`
}

/** Why it is better than another one. */
export const Reasons = () => (
  <section>
    <h2 id="why">Why mailkind</h2>
    <div class="trio">
      {REASONS.map(({ title, text }) => (
        <div key={title}>
          <h3>{title}</h3>
          <p>{text}</p>
        </div>
      ))}
    </div>
  </section>
)

const REASONS = [
  {
    title: "It says why",
    text: "Every verdict comes with its reasons, the lists behind them and how sure it is. Support can explain it, and you can argue with it.",
  },
  {
    title: "It works when DNS does not",
    text: "Lists in memory decide first. When DNS is slow or down you still get a verdict, marked as degraded, and people can still sign up.",
  },
  {
    title: "It is fair to real people",
    text: "Privacy relays, universities and shared inboxes are kept apart from disposable addresses, so you don’t lose a customer to a blunt block list.",
  },
] as const

/** What accounts may do, the free ones first, and what the operator says about prices. */
export function Pricing({ facts: { tiers, defaultTier, pricing, contacts } }: SectionProps) {
  if (!useContext(Offer).isSignUpOpen) return null
  const offered = TIERS.flatMap(({ name }, index) => {
    const limits = tiers[index]
    const isOffered = index === defaultTier || (index > defaultTier && limits?.unitsPerDay !== null)
    return limits !== undefined && isOffered ? [{ name, limits }] : []
  })
  const prices = pricing === null ? "" : operatorHtml(pricing)
  return (
    <section>
      <h2 id="pricing">Pricing</h2>
      <p class="sub">
        Free to start: a key takes an email address and no card.{" "}
        {pricing === null && offered.length > 1 ? <AskForMore contacts={contacts} /> : null}{" "}
        <a href={ROUTES.docsLimits.path}>All limits</a>
      </p>
      {/* A table of the operator's own tells the tiers with their prices. */}
      {prices.includes("<table>") ? null : (
        <Tiles
          tiles={offered.map(({ name, limits: { unitsPerDay, requestsPerSecond } }) => ({
            label: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
            value: limitLabel(unitsPerDay),
            note: `checks per day, ${limitLabel(requestsPerSecond).toLowerCase()} per second`,
          }))}
        />
      )}
      {prices === "" ? null : <div class="prices" {...innerHtml(prices)} />}
    </section>
  )
}

/** Whom to ask for a higher tier. */
export const AskForMore = ({ contacts }: { readonly contacts: readonly string[] }) => (
  <>
    Need more? Ask the operator of this server
    {contacts.map((uri, index) => [
      index === 0 ? ": " : ", ",
      <a key={uri} href={uri}>
        {uri.replace(/^(?:mailto|tel):/, "")}
      </a>,
    ])}
    .
  </>
)

const limitLabel = (limit: number | null): string => (limit === null ? "Unlimited" : formatNumber(limit))

/** How to run a server of one's own. */
export const SelfHosting = () => (
  <section class="host">
    <div>
      <h2 id="self-host">Yours to host</h2>
      <p class="sub">
        One program with everything inside: lists, API, dashboard, database. Run it next to your product, and no address
        leaves your network. <a href={ROUTES.docsPlatforms.path}>Ten minutes on your platform</a>
      </p>
    </div>
    <CodeBlock caption="One file, one command" code="mailkind serve" language="sh" />
  </section>
)
