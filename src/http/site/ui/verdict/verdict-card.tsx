/** @jsxImportSource preact */
import { POLICIES } from "../../../../contract/policies.ts"
import type { CheckResult } from "../../../../contract/result-schema.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { withQuery } from "../../links.ts"
import { CHECK_FORM_ID } from "../check-form.tsx"
import { ActionButton } from "../forms.tsx"
import { Prose, prettyJson } from "../layout.tsx"
import { Notice } from "../panels.tsx"
import type { DisplayedVerdict } from "./reason-words.ts"
import { Verdict } from "./verdict.tsx"
import { type ListCount, MailHosts, ReasonLink, verdictFacts } from "./verdict-evidence.tsx"
import {
  isUnreadable,
  sureness,
  verdictHeadline,
  verdictLimits,
  verdictMeaning,
  verdictSentences,
  whatItIs,
} from "./verdict-words.ts"

/** A verdict with what a page knows besides. */
export type CheckedVerdict = DisplayedVerdict & {
  /** Absent: the domain was not looked up in the lists. */
  readonly lists?: ListCount | undefined
  /** The shell command that asks the API the same. Absent: there is none. */
  readonly curl?: string | undefined
}

/** The form of the page that checked, so that the card can check again. */
export type CheckingForm = {
  readonly path: string
  /** The name of the field for the address, domain or website. */
  readonly field: string
  /** What else the check was asked with. */
  readonly fields?: Readonly<Record<string, string>>
}

type VerdictCardProps = {
  readonly verdict: CheckedVerdict
  /** Null: the verdict answers no form of the page, and its reader is not who would act on it. */
  readonly form?: CheckingForm | null
  /** The level of its heading on its page. */
  readonly heading?: "h2" | "h3"
}

/** The result of a check. */
export function VerdictCard({ verdict, form = null, heading = "h2" }: VerdictCardProps) {
  const { result } = verdict
  return (
    <Verdict
      heading={heading}
      tone={result.is_lookalike ? "lookalike" : result.category}
      recommendation={result.recommendation}
      subject={result.email ?? result.url ?? result.domain ?? "Your input"}
      headline={verdictHeadline(verdict)}
      meaning={form === null ? whatItIs(verdict) : verdictMeaning(verdict)}
      reasons={verdictSentences(verdict)}
      sure={sureness(verdict)}
      facts={[
        ...verdictFacts(verdict, verdict.lists),
        ...(isUnreadable(result) ? [] : [["Policy", result.policy] as const]),
      ]}
      isAnswer={form !== null}
      notices={<Notices verdict={verdict} form={form} />}
      belowFacts={
        <p class="hint">
          {isUnreadable(result) ? "Blocked under every policy." : <Prose text={POLICIES[result.policy].description} />}
        </p>
      }
    >
      {form === null ? null : <Actions verdict={verdict} />}
      <Raw verdict={verdict} isCopied={form !== null} />
    </Verdict>
  )
}

/** What to know before anything else, each in a line with what can be done about it. */
function Notices({ verdict, form }: Required<Pick<VerdictCardProps, "verdict" | "form">>) {
  const { did_you_mean: suggestion, degraded, workspace, reasons } = verdict.result
  const canRetry = form !== null && ((degraded && !verdict.isDnsOff) || workspace.pending)
  return (
    <>
      {suggestion === null ? null : (
        <Notice
          tone="review"
          action={form && <CorrectionButton result={verdict.result} form={form} suggestion={suggestion} />}
        >
          Did you mean <strong>{suggestion}</strong>?
        </Notice>
      )}
      {reasons.includes("test_address") ? (
        <Notice tone="review">This is a test address. The verdict is made up.</Notice>
      ) : null}
      {verdictLimits(verdict).map(text => (
        <Notice key={text} action={canRetry ? <AgainButton /> : null}>
          {text}
        </Notice>
      ))}
    </>
  )
}

const AgainButton = () => (
  <button type="submit" class="small" form={CHECK_FORM_ID}>
    Check again
  </button>
)

type CorrectionProps = { readonly result: CheckResult; readonly form: CheckingForm; readonly suggestion: string }

/** Checks the same mailbox under the suggested domain. */
function CorrectionButton({ result: { email, policy }, form: { path, field, fields }, suggestion }: CorrectionProps) {
  const corrected = email === null ? suggestion : `${email.slice(0, email.lastIndexOf("@"))}@${suggestion}`
  return <ActionButton path={path} fields={{ ...fields, policy, [field]: corrected }} label={`Check ${corrected}`} />
}

/** What a reader can do with the verdict. `site.js` adds the buttons that copy. */
function Actions({ verdict: { result, curl } }: Pick<VerdictCardProps, "verdict">) {
  const { domain, reasons } = result
  const isListed = domain !== null && !isUnreadable(result) && !reasons.includes("test_address")
  return (
    <p class="actions">
      <span data-copy="verdict-json" data-copy-label="Copy JSON" />
      {curl === undefined ? null : <span data-copy="verdict-curl" data-copy-label="Copy as curl" />}
      {isListed ? <a href={withQuery(ROUTES.feedback.path, { domain })}>Wrong? Tell us</a> : null}
    </p>
  )
}

type RawProps = Pick<VerdictCardProps, "verdict"> & {
  /** Whether the reader can copy the answer and the command. */
  readonly isCopied: boolean
}

/** The answer as the API gives it, the command that asks for it, and every reason by its code. */
const Raw = ({ verdict: { result, curl }, isCopied }: RawProps) => (
  <details class="v-raw">
    <summary>Details for developers</summary>
    <p class="hint">
      {(isUnreadable(result) ? result.reasons.slice(0, 1) : result.reasons).map((reason, index) => (
        <>
          {index === 0 ? null : ", "}
          <ReasonLink key={reason} reason={reason} />
        </>
      ))}
    </p>
    <MailHosts result={result} />
    {isCopied && curl !== undefined ? <Code id="verdict-curl" code={curl} /> : null}
    {isCopied ? <Code id="verdict-json" code={prettyJson(result)} /> : null}
  </details>
)

const Code = ({ id, code }: { readonly id: string; readonly code: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
  <pre tabIndex={0} id={id}>
    <code>{code}</code>
  </pre>
)
