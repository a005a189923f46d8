/** @jsxImportSource preact */
import type { DomainLookUp } from "../../../check/look-up.ts"
import { REASONS, type Reason } from "../../../contract/reasons.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { Prose, Table } from "../layout.tsx"
import { ListingsTable } from "../look-up-section.tsx"
import { Facts } from "./admin-layout.tsx"

/** What a check says of the domain now, and why. */
export function CheckSection({ checked }: { readonly checked: CheckResult }) {
  const {
    category,
    confidence,
    recommendation,
    policy,
    degraded,
    did_you_mean: meant,
    is_lookalike: imitates,
  } = checked
  return (
    <section aria-labelledby="check">
      <h2 id="check">What a check says now</h2>
      <p>This is what the account that sent the report is told.</p>
      {degraded ? <p class="told">DNS gave no answer, so this rests on the lists alone.</p> : null}
      <Facts
        facts={[
          ["Category", <strong>{category}</strong>],
          ["Confidence", confidence.toFixed(2)],
          ["Recommendation", `${recommendation} (policy ${policy})`],
          ["Imitates another name", imitates ? "yes" : "no"],
          ["Probably meant", meant === null ? "nothing else" : <code>{meant}</code>],
          ...mailFacts(checked),
        ]}
      />
      <Table caption="Reasons" columns={["Reason", "Meaning"]}>
        {checked.reasons.map(reason => (
          <ReasonRow key={reason} reason={reason} />
        ))}
      </Table>
    </section>
  )
}

function mailFacts({ mail, workspace }: CheckResult) {
  const hosts = mail.mx.map(({ priority, host }) => `${priority} ${host}`).join(", ")
  const suites = [
    ...workspace.suite_a.evidence.map(found => `suite_a (${found})`),
    ...workspace.suite_b.evidence.map(found => `suite_b (${found})`),
    ...(workspace.other_suite === null ? [] : [workspace.other_suite]),
  ]
  return [
    ["Mail hosts", mail.has_mx === null ? "not known" : hosts || "none"],
    ["Mail provider", mail.provider ?? "none that is known"],
    ["Workspace", workspace.pending ? "still being looked up" : suites.join(", ") || "none found"],
  ] as const
}

function ReasonRow({ reason }: { readonly reason: Reason }) {
  return (
    <tr>
      <th scope="row">
        <a href={`${ROUTES.docsReasons.path}#${reason}`}>
          <code>{reason}</code>
        </a>
      </th>
      <td>
        <Prose text={REASONS[reason].says} />
      </td>
    </tr>
  )
}

/** What the lists say of the domain: each entry, its source, and since when. */
export function ListsSection({ listed }: { readonly listed: DomainLookUp | null }) {
  return (
    <section aria-labelledby="lists">
      <h2 id="lists">What the lists say</h2>
      {listed === null ? <p>The lists read no domain in this name.</p> : <Listings listed={listed} />}
    </section>
  )
}

function Listings({ listed }: { readonly listed: DomainLookUp }) {
  const { category, says, entry, sets } = listed
  return (
    <>
      <p>
        {entry === null ? null : (
          <>
            The entry <code>{entry}</code> in {sets.join(", ")} makes it <strong>{category}</strong>.{" "}
          </>
        )}
        <Prose text={says} />
      </p>
      <ListingsTable found={listed} sourcesAt={ROUTES.docsLists.path} />
    </>
  )
}
