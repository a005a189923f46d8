/** @jsxImportSource preact */
import {
  DEGRADED,
  LEARNED_MAIL_HOST_CONFIDENCE,
  PARKED_CONFIDENCE,
  REASON_NAMES,
  REASONS,
  type Reason,
} from "../../../contract/reasons.ts"
import { GuidePage } from "../docs/guide-page.tsx"
import { AnchorRowHeader, Prose, Table } from "../ui/layout.tsx"
import { PolicyTables } from "../ui/policy-tables.tsx"

type ReasonGroup = (typeof REASONS)[Reason]["group"]

/** The groups in the order of the page. A group without a row does not compile. */
const GROUP_TITLES: { readonly [G in ReasonGroup]: string } = {
  syntax: "Syntax and names",
  sets: "Lists",
  mail: "DNS and mail",
  address: "The local part",
  risk: "Risk",
  account: "Block and allow lists",
  test: "Test addresses",
}

const GROUP_NAMES = Object.keys(GROUP_TITLES) as ReasonGroup[] // the keys of a table are its type's

/** Every reason code under an anchor of its name, by group, and how recommendations are made. */
export function ReasonsPage() {
  return (
    <GuidePage route="docsReasons">
      <p class="lead">
        <code>reasons</code> says why a verdict is what it is: first the reason that decided the category, then those
        that raised the recommendation, then further evidence.
      </p>
      <p>
        When several reasons could decide, the one with the lowest rank does. A reason without a rank is evidence only.
      </p>
      {GROUP_NAMES.map(group => (
        <section key={group} aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>{GROUP_TITLES[group]}</h2>
          <Table
            caption={GROUP_TITLES[group]}
            columns={["Code", "Meaning", "Example", "Decides", "Confidence", "Rank"]}
          >
            {REASON_NAMES.filter(reason => REASONS[reason].group === group).map(reason => (
              <ReasonRow key={reason} reason={reason} />
            ))}
          </Table>
        </section>
      ))}
      <ConfidenceNotes />
      <PolicyTables />
    </GuidePage>
  )
}

/** The reasons that can decide a category, first to last. */
const DECISIVE_REASONS = REASON_NAMES.filter(reason => decidedCategory(reason) !== null)

/** What a reason decides; null: nothing. Two reasons decide the category that is written down for what was asked about. */
function decidedCategory(reason: Reason): string | null {
  if (reason === "test_address") return "that of the test address"
  if (reason === "corrected") return "the corrected one"
  return REASONS[reason].decides
}

function ReasonRow({ reason }: { readonly reason: Reason }) {
  const { description, example, confidence } = REASONS[reason]
  const decided = decidedCategory(reason)
  return (
    <tr id={reason}>
      <AnchorRowHeader code={reason} />
      <td>
        <Prose text={description} />
      </td>
      <td class="example">{example}</td>
      <td>{decided ?? "–"}</td>
      <td class="number">{decided === null ? "–" : formatConfidence(reason, confidence)}</td>
      <td class="number">{decided === null ? "–" : DECISIVE_REASONS.indexOf(reason) + 1}</td>
    </tr>
  )
}

/** A test address is as sure as its category usually is, so it has no confidence of its own. */
const formatConfidence = (reason: Reason, confidence: number): string =>
  reason === "test_address" ? "its category's" : confidence.toFixed(2)

function ConfidenceNotes() {
  return (
    <section aria-labelledby="confidence">
      <h2 id="confidence">Confidence</h2>
      <ul>
        <li>
          While DNS gives no answer, a confidence is multiplied by {DEGRADED.factor}; that of{" "}
          <code>known_organisation</code> is {DEGRADED.known_organisation}, that of <code>no_evidence</code>{" "}
          {DEGRADED.no_evidence}.
        </li>
        <li>
          <code>disposable_mx</code> has {LEARNED_MAIL_HOST_CONFIDENCE} when the mail host was learned and not written
          down. It is then looked at, never refused.
        </li>
        <li>A business whose homepage is parked has {PARKED_CONFIDENCE}.</li>
      </ul>
    </section>
  )
}
