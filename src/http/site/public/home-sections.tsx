/** @jsxImportSource preact */

import { h } from "preact"
import { useContext } from "preact/hooks"
import { capitalized } from "../../../base/text.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import { exampleResult } from "../../response/example-responses.ts"
import { innerHtml, operatorHtml } from "../docs/html-form.tsx"
import { RequestTabs } from "../reference/example-pair.tsx"
import type { SampleRequest } from "../reference/request-samples.ts"
import { formatLimit, formatNumber } from "../ui/format.ts"
import { CodeBlock, RecommendationBadge } from "../ui/layout.tsx"
import { Swatch, Tiles } from "../ui/panels.tsx"
import { Table } from "../ui/table.tsx"
import { Icon, VERDICT_ID } from "../ui/verdict/verdict.tsx"
import { Offer, SignUpLink } from "../ui/visitor.tsx"
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
        <b>
          <Swatch tone={`of-${verdict.result.is_lookalike ? "lookalike" : verdict.result.category}`} />
          {input}
        </b>,
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
    ["0", "addresses stored by a check"],
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

/** What it knows that others do not, in three lines. */
export const Strengths = () => (
  <ul class="why">
    {STRENGTHS.map(text => (
      <li key={text}>
        <Icon name="good" />
        <span>{text}</span>
      </li>
    ))}
  </ul>
)

const STRENGTHS = [
  "Does not mistake privacy relays, universities or shared inboxes for disposable mail.",
  "Catches disposable domains that are on no list yet, by their mail servers.",
  "Says why, every time. A DNS failure never makes an address invalid.",
] as const

/** Why it is better than another one, by example. */
export const Comparison = () => (
  <section>
    <h2 id="why">Where other checks go wrong</h2>
    <p class="sub">A block list compares names. mailkind looks at who runs the mail.</p>
    <Table caption="Where other checks go wrong" columns={["Sign-up", "A typical check", "mailkind"]}>
      {COMPARED.map(([signUp, note, elsewhere, recommendation, here]) => (
        <tr key={signUp}>
          <th scope="row">
            {signUp} <p class="hint">{note}</p>
          </th>
          <td>{elsewhere}</td>
          <td>
            {recommendation === null ? null : <RecommendationBadge recommendation={recommendation} />} {here}
          </td>
        </tr>
      ))}
    </Table>
  </section>
)

// biome-ignore format: a row a line
const COMPARED = [
  ["mia@mozmail.com", "A privacy relay", "Disposable. A real person is refused.", "review", "Relay: a real person who hides the address."],
  ["info@ethz.ch", "A university", "Not a company, or a role address. Refused.", "allow", "Education, a shared inbox."],
  ["A domain registered today", "On the mail server of disposable domains", "On no list yet. Let in.", "block", "Disposable, by its mail server."],
  ["Any company, while DNS is down", "Slow, broken or blocked", "Invalid. Everybody is refused.", null, "Decided by the lists and marked degraded. Never invalid."],
  ["“Why was I refused?”", "Your support has to answer", "A score.", null, "The reasons, the lists behind them, and how sure it is."],
] as const

/** What accounts may do, the free ones first, and what the operator says about prices. */
export function Pricing({ facts: { tiers, defaultTier, pricing, securityContacts } }: SectionProps) {
  if (!useContext(Offer).isSignUpOpen) return null
  const offered = TIERS.flatMap(({ name }, index) => {
    const limits = tiers[index]
    const isOffered = index === defaultTier || (index > defaultTier && limits?.unitsPerDay !== null)
    return limits !== undefined && isOffered ? [{ name, limits }] : []
  })
  return (
    <section>
      <h2 id="pricing">Pricing</h2>
      <p class="sub">
        Free to start: all you need is an email address, no card. One check costs one unit.{" "}
        {pricing === null && offered.length > 1 ? <AskForMore contacts={securityContacts} /> : null}{" "}
        <a href={ROUTES.docsLimits.path}>All limits</a>
      </p>
      {/* A table of the operator's own tells the tiers with their prices. */}
      {pricing !== null && TABLE_LINE.test(pricing) ? null : (
        <Tiles
          tiles={offered.map(({ name, limits: { unitsPerDay, requestsPerSecond } }) => ({
            label: capitalized(name),
            value: capitalized(formatLimit(unitsPerDay)),
            note: `checks per day, ${formatLimit(requestsPerSecond)} per second`,
          }))}
        />
      )}
      {pricing === null ? null : <OperatorPrices pricing={pricing} />}
      <p class="actions">
        <SignUpLink class="button primary" />
      </p>
    </section>
  )
}

/** What the operator says about prices. */
export const OperatorPrices = ({ pricing }: { readonly pricing: string }) => (
  <div class="prices" {...innerHtml(operatorHtml(pricing))} />
)

/** Whom to ask for a higher tier: a sentence, and the first contact of the operator, if there is one. */
export const askForMore = ([uri]: readonly string[]) => ({
  sentence: `Need more? Ask the operator of this server${uri === undefined ? "" : ": "}`,
  contact: uri === undefined ? null : { uri, name: uri.replace(/^(?:mailto|tel):/, "") },
})

/** The same, with the contact as a link. */
export function AskForMore({ contacts }: { readonly contacts: readonly string[] }) {
  const { sentence, contact } = askForMore(contacts)
  return (
    <>
      {sentence}
      {contact && <a href={contact.uri}>{contact.name}</a>}.
    </>
  )
}

/** The line below the head of a table in Markdown. */
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*\|/m

/** How to run a server of one's own. */
export const SelfHosting = () => (
  <section class="host">
    <div>
      <h2 id="self-host">Host it yourself</h2>
      <p class="sub">
        One program with everything inside: lists, API, dashboard, database. Run it next to your product, and no address
        leaves your network. <a href={ROUTES.docsPlatforms.path}>Set it up in ten minutes</a>
      </p>
    </div>
    <CodeBlock caption="One file, one command" code="mailkind serve" language="sh" />
  </section>
)
