/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { POLICIES } from "../../../../contract/policies.ts"
import type { CheckResult } from "../../../../contract/result-schema.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { withQuery } from "../../links.ts"
import { Prose, prettyJson } from "../layout.tsx"
import type { DisplayedVerdict } from "./reason-words.ts"
import { VerdictEvidence } from "./verdict-evidence.tsx"
import {
  isUnreadable,
  RECOMMENDATION_LABELS,
  sureness,
  verdictHeadline,
  verdictLimits,
  verdictMeaning,
  verdictSentences,
  verdictWarnings,
} from "./verdict-words.ts"

type VerdictCardProps = {
  readonly verdict: DisplayedVerdict
  /** Displayed beside the suggested domain, such as a button. */
  readonly besideSuggestion?: ComponentChildren
  /** Whether the verdict answers a form of the page, so that screen readers announce it. */
  readonly isAnswer?: boolean
  /** Displayed after the card's own buttons. */
  readonly moreActions?: ComponentChildren
}

/** The id of the card, so that a form can lead to it. A page holds one card only. */
export const VERDICT_ID = "verdict"

/**
 * The result of a check for people: warnings, category, recommendation, confidence and reasons, then evidence and JSON in
 * collapsed sections. Everything from outside is rendered as text.
 */
export function VerdictCard({
  verdict,
  besideSuggestion = null,
  isAnswer = true,
  moreActions = null,
}: VerdictCardProps) {
  const { result } = verdict
  const { category, recommendation, policy } = result
  return (
    <section
      class={`card verdict ${result.is_lookalike ? "of-lookalike" : `of-${category}`}`}
      id={VERDICT_ID}
      aria-labelledby="verdict-title"
      tabIndex={-1}
    >
      <div {...(isAnswer ? { role: "status" } : {})}>
        <VerdictWarnings verdict={verdict} besideSuggestion={besideSuggestion} />
        <p class="asked">{subjectLabel(result)}</p>
        <div class="decision">
          <h2 id="verdict-title">{verdictHeadline(verdict)}</h2>
          <p class={`stamp ${recommendation}`}>{RECOMMENDATION_LABELS[recommendation]}</p>
        </div>
        <p class="meaning">{verdictMeaning(verdict)}</p>
        <ConfidenceBar verdict={verdict} />
        {verdictLimits(verdict).map(text => (
          <p key={text} class="hint">
            {text}
          </p>
        ))}
      </div>
      <h3>Why</h3>
      <ul class="why">
        {verdictSentences(verdict).map(({ mark, text }) => (
          <li key={text} class={mark}>
            {text}
          </li>
        ))}
      </ul>
      <VerdictActions result={result} isReportable={isAnswer} moreActions={moreActions} />
      <VerdictFolds result={result} />
      <p class="hint">
        Recommended by {result.reasons.includes("account_rule") ? "your rules and " : null}the policy{" "}
        <code>{policy}</code>: <Prose text={POLICIES[policy].description} />{" "}
        <a href={ROUTES.docsPolicies.path}>Other policies</a>
      </p>
    </section>
  )
}

/** The evidence and the JSON, each in a collapsed section. */
const VerdictFolds = ({ result }: { readonly result: CheckResult }) => (
  <>
    <details>
      <summary>All evidence</summary>
      <VerdictEvidence result={result} />
    </details>
    <details>
      <summary>API response (JSON)</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0} id="verdict-json">
        <code>{prettyJson(result)}</code>
      </pre>
    </details>
  </>
)

/** The input as it was sent. The result of an unreadable domain does not contain it. */
const subjectLabel = ({ email, url, domain }: CheckResult): string => email ?? url ?? domain ?? "Your input"

/** A suggested correction comes first, then the other warnings. Nothing when there is none. */
function VerdictWarnings({ verdict, besideSuggestion }: Pick<VerdictCardProps, "verdict" | "besideSuggestion">) {
  const { did_you_mean: suggestion } = verdict.result
  const warnings = verdictWarnings(verdict)
  if (suggestion === null && warnings.length === 0) return null
  return (
    <ul class="warnings">
      {suggestion === null ? null : (
        <li class="notice">
          <span>
            Did you mean <strong>{suggestion}</strong>?
          </span>{" "}
          {besideSuggestion}
        </li>
      )}
      {warnings.map(({ text, severity }) => (
        <li key={text} class={severity}>
          {text}
        </li>
      ))}
    </ul>
  )
}

const BAR_HEIGHT = 8

function ConfidenceBar({ verdict }: Pick<VerdictCardProps, "verdict">) {
  const sure = sureness(verdict)
  if (sure === null) return null
  const percent = `${Math.round(sure.share * 100)}%`
  return (
    <p class="sure">
      <svg width="100%" height={BAR_HEIGHT} aria-hidden="true">
        <rect class="track" width="100%" height={BAR_HEIGHT} rx={BAR_HEIGHT / 2} />
        <rect class="filled" width={percent} height={BAR_HEIGHT} rx={BAR_HEIGHT / 2} />
      </svg>
      <span>How sure: {sure.label}</span>
    </p>
  )
}

type ActionsProps = {
  readonly result: CheckResult
  readonly isReportable: boolean
  readonly moreActions: ComponentChildren
}

/** What a reader can do with the verdict. `site.js` adds the button that copies the JSON. */
function VerdictActions({ result, isReportable, moreActions }: ActionsProps) {
  const { domain, reasons } = result
  const isListed = domain !== null && !isUnreadable(result) && !reasons.includes("test_address")
  return (
    <p class="actions" data-copy="verdict-json" data-copy-label="Copy JSON">
      {isListed ? (
        <>
          {isReportable ? (
            <a class="button small" href={withQuery(ROUTES.feedback.path, { domain })}>
              Report a mistake
            </a>
          ) : null}
          <a class="button small" href={withQuery(ROUTES.docsLists.path, { domain })}>
            Which lists?
          </a>
        </>
      ) : null}
      {moreActions}
    </p>
  )
}
