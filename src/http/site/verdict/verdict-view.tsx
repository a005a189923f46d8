/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { CATEGORIES } from "../../../contract/categories.ts"
import { POLICIES, RECOMMENDATIONS } from "../../../contract/policies.ts"
import { REASONS, type Reason } from "../../../contract/reasons.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { Prose, pretty, Table } from "../layout.tsx"
import { Advice } from "../policy-tables.tsx"
import { EvidenceFacts } from "./evidence-facts.tsx"
import { ADVICE_WORDS, CATEGORY_WORDS, sureness } from "./verdict-words.ts"

type Props = { readonly result: CheckResult }

type ViewProps = Props & {
  /** What the verdict is and means to who asked; null: what every verdict of its category is said to be. */
  readonly meaning?: string | null
  /** What stands beside the domain that was likely meant, such as a button. */
  readonly besideSuggestion?: ComponentChildren
}

/**
 * The result of a check in words, with its JSON in a fold: a section of its own under `#verdict`, for a page that has one
 * such result. Whatever the result holds from outside stands as text.
 */
export function VerdictView({ result, meaning = null, besideSuggestion = null }: ViewProps) {
  return (
    <section class="verdict" aria-labelledby="verdict">
      <Headline result={result} meaning={meaning} />
      <Notes result={result} besideSuggestion={besideSuggestion} />
      <Reasons result={result} />
      <EvidenceFacts result={result} />
      <details>
        <summary>The same as JSON, as the API answers it</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
        <pre tabIndex={0}>
          <code>{pretty(result)}</code>
        </pre>
      </details>
    </section>
  )
}

/** What was asked about, as it was sent; of an unreadable domain nothing is left to name. */
const askedAbout = ({ email, url, domain }: CheckResult): string => email ?? url ?? domain ?? "What you sent"

function Headline({ result, meaning }: Props & { readonly meaning: string | null }) {
  const { category, recommendation, confidence, policy } = result
  return (
    <>
      <h2 id="verdict">
        <span class="asked">{askedAbout(result)}</span> {CATEGORY_WORDS[category]}
      </h2>
      <p>
        {meaning ?? CATEGORIES[category].says} We are {sureness(confidence)}.
      </p>
      <p>
        <Advice recommendation={recommendation} /> {ADVICE_WORDS[recommendation]}{" "}
        <span class="hint">
          This is what the policy <code>{policy}</code> recommends.
        </span>
      </p>
    </>
  )
}

/** What a person has to know before the reasons. */
function Notes({ result, besideSuggestion }: ViewProps) {
  const { did_you_mean: suggestion, degraded, workspace } = result
  return (
    <>
      {suggestion === null ? null : (
        <div class="told">
          Did you mean <strong>{suggestion}</strong>? {besideSuggestion}
        </div>
      )}
      {degraded ? (
        <p class="told">DNS did not answer in time, so this is what our lists alone know. Try again soon.</p>
      ) : null}
      {workspace.pending ? (
        <p class="told">
          Whether the domain has a tenant in <code>suite_b</code> is still being looked up. The next check knows.
        </p>
      ) : null}
    </>
  )
}

function Reasons({ result }: Props) {
  const adviser = advisedBy(result)
  return (
    <>
      <h3 id="verdict-reasons">Why</h3>
      <Table caption="Reasons of the verdict" columns={["Reason", "What it means"]}>
        {result.reasons.map((reason, at) => (
          <tr key={reason}>
            <th scope="row">
              <a href={`${ROUTES.docsReasons.path}#${reason}`}>
                <code>{reason}</code>
              </a>
            </th>
            <td>
              {at === 0 ? <strong>This decided. </strong> : null}
              {reason === adviser ? <strong>This made it “{result.recommendation}”. </strong> : null}
              <Prose text={REASONS[reason].says} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

/**
 * The reason by which the recommendation is another than the category's: the one after the first, where it stands (decisions
 * §4). Null: there is none, or the first one softened it itself, as a mail host does that was learned.
 */
function advisedBy({ recommendation, policy, category, reasons }: CheckResult): Reason | null {
  const usual = POLICIES[policy][category]
  const second = reasons[1] ?? null
  if (recommendation === usual) return null
  const isRaised = RECOMMENDATIONS.indexOf(recommendation) > RECOMMENDATIONS.indexOf(usual)
  return isRaised || second === "allowlisted" ? second : null
}
