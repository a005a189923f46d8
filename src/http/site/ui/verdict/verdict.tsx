/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import type { Category } from "../../../../contract/categories.ts"
import type { Recommendation } from "../../../../contract/policies.ts"
import { DescriptionList, RecommendationBadge } from "../layout.tsx"
import type { Mark } from "./reason-words.ts"
import type { Sureness } from "./verdict-words.ts"

/** A finding beside the verdict. */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren]

/** The id of the card, so that a form can lead to it. A page holds one card only. */
export const VERDICT_ID = "verdict"

type VerdictProps = {
  readonly tone: Category | "lookalike"
  /** Null: it is not known. */
  readonly recommendation: Recommendation | null
  /** In place of the recommendation: that there is none, because something failed. */
  readonly fault?: { readonly tone: Recommendation; readonly badge: ComponentChildren } | undefined
  readonly subject: string
  readonly headline: string
  readonly meaning: ComponentChildren
  /** `mark`: whether it speaks for the subject, against it, or neither. */
  readonly reasons?: readonly { readonly mark: Mark; readonly text: ComponentChildren }[]
  /** Null: it is not known. */
  readonly sure?: Sureness | null
  readonly facts: readonly Fact[]
  /** The level of its heading on its page. */
  readonly heading?: "h2" | "h3"
  /** Whether the verdict answers a form of the page, so that screen readers announce it. */
  readonly isAnswer?: boolean
  /** Displayed above the card. */
  readonly notices?: ComponentChildren
  /** Displayed below the reasons. */
  readonly children?: ComponentChildren
  /** Displayed below the facts. */
  readonly belowFacts?: ComponentChildren
}

/** What is known of an address or a domain: at the left what it is and why, at the right the evidence. All texts from outside are text. */
export function Verdict(props: VerdictProps) {
  const { tone, recommendation, subject, headline, meaning, reasons = [], sure = null, facts } = props
  const { heading: Heading = "h2", isAnswer = false, fault } = props
  const mark = recommendation ?? fault?.tone
  return (
    <section class={`verdict-area of-${tone}`} id={VERDICT_ID} aria-labelledby="verdict-title" tabIndex={-1}>
      {props.notices}
      <div class="verdict">
        <div class="v-main">
          <div {...(isAnswer ? { role: "status" } : {})}>
            <div class="v-head">
              {mark === undefined ? null : (
                <span class={`v-mark ${mark}`}>
                  <Icon name={recommendation === null ? "info" : SIGNS[recommendation]} />
                </span>
              )}
              <div>
                <p class="v-subject">
                  <bdi>{displayable(subject)}</bdi>
                </p>
                <Heading id="verdict-title">
                  {headline}{" "}
                  {recommendation === null ? fault?.badge : <RecommendationBadge recommendation={recommendation} />}
                </Heading>
              </div>
            </div>
            <p class="v-meaning">{meaning}</p>
          </div>
          <ul class="why" hidden={reasons.length === 0}>
            {reasons.map(({ mark, text }, index) => (
              <li key={index}>
                <Icon name={mark} />
                <span>{text}</span>
              </li>
            ))}
          </ul>
          {props.children}
        </div>
        <div class="v-side">
          {sure === null ? null : <SurenessSteps {...sure} />}
          <DescriptionList items={facts} isSpread />
          {props.belowFacts}
        </div>
      </div>
    </section>
  )
}

const STEPS = Array.from({ length: 10 }, (_, index) => index)

function SurenessSteps({ of, label, share }: Sureness) {
  const reached = Math.floor(share * STEPS.length + ROUNDING)
  return (
    <>
      <p class="v-sure">
        Confidence: {of} <strong>{label}</strong>
      </p>
      <p class="v-steps" aria-hidden="true">
        {STEPS.map(step => (
          <i key={step} class={step < reached ? "on" : undefined} />
        ))}
      </p>
    </>
  )
}

/** Of fractions that binary numbers cannot hold, so that 0.3 reaches three steps. */
const ROUNDING = 1e-9

/** Long websites are cut in their middle: what matters stands at their beginning. */
const SUBJECT_CHARACTERS_MAX = 360

/** A text from outside in one direction: signs that turn it around are told by their number, since readers would not see them. */
function displayable(text: string): string {
  const plain = text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, sign => `[U+${hexOf(sign)}]`)
  if (plain.length <= SUBJECT_CHARACTERS_MAX) return plain
  return `${plain.slice(0, SUBJECT_CHARACTERS_MAX / 2)} … ${plain.slice(-SUBJECT_CHARACTERS_MAX / 2)}`
}

const hexOf = (sign: string): string => sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")

const PATHS = {
  good: "M3.5 8.5l3 3 6-7",
  bad: "M4.5 4.5l7 7m0-7l-7 7",
  info: "M8 1.8a6.2 6.2 0 1 1 0 12.4a6.2 6.2 0 1 1 0-12.4M8 7.4v3.6M8 4.9v.1",
  look: "M5.7 5.9a2.3 2.3 0 1 1 3.5 2c-.8.5-1.2.9-1.2 1.8m0 2.5v.1",
} as const satisfies Record<string, string>

/** A sign beside a text that says the same. */
export const Icon = ({ name }: { readonly name: keyof typeof PATHS }) => (
  <svg class={`icon ${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)

const SIGNS: { readonly [R in Recommendation]: keyof typeof PATHS } = { allow: "good", review: "look", block: "bad" }
