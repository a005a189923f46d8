/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { POLICIES, POLICY_NAMES } from "../../../contract/policies.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { CheckResult } from "../../../contract/schemas.ts"
import { Choice, Refused, TextField } from "../fields.tsx"
import type { Visitor } from "../signed-in.ts"
import { VerdictView } from "../verdict/verdict-view.tsx"
import { DashboardLayout } from "./dashboard-layout.tsx"
import type { TryEntry, TryFault } from "./try-form.ts"

type Props = {
  readonly visitor: Visitor
  readonly entry: TryEntry
  /** What is wrong with the entry; null: nothing, or nothing was sent yet. */
  readonly fault: TryFault | null
  /** Why nothing was checked, though nothing is wrong with the entry. */
  readonly refusal: string | null
  /** Null: nothing was checked. */
  readonly result: CheckResult | null
}

/** A box that checks what is written into it, and what the check found. */
export function TryPage({ visitor, entry, fault, refusal, result }: Props) {
  return (
    <DashboardLayout route="tryIt" title="Try it" visitor={visitor}>
      <p class="lead">
        Checks as a secret key does, with your own lists. It costs one unit of your day, {LIMITS.deepCheckUnits} when
        deep.
      </p>
      <Refused says={refusal} />
      <TryForm entry={entry} fault={fault} />
      {result === null ? null : <VerdictView result={result} />}
    </DashboardLayout>
  )
}

function TryForm({ entry, fault }: Pick<Props, "entry" | "fault">) {
  return (
    <form class="form" method="post" action={`${ROUTES.postTryIt.path}#verdict`}>
      <TextField
        name="asked"
        label="Address, domain or website"
        hint={
          <>
            Such as <code>jane@acme.com</code>, <code>acme.com</code> or <code>https://acme.com/about</code>.
          </>
        }
        value={entry.asked}
        fault={fault?.field === "asked" ? fault.says : null}
        required
        maxLength={LIMITS.urlLengthMax}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <Choice
        name="policy"
        label="Policy"
        options={POLICY_NAMES.map(policy => ({ value: policy, label: `${policy} · ${POLICIES[policy].says}` }))}
        chosen={entry.policy}
        fault={fault?.field === "policy" ? fault.says : null}
      />
      <label class="check">
        <input type="checkbox" name="deep" value="yes" checked={entry.isDeep} />
        <span>Deep check: also ask how old the domain is and what its homepage shows.</span>
      </label>
      <button type="submit">Check</button>
    </form>
  )
}
