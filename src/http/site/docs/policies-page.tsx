/** @jsxImportSource preact */
import { DOUBTFUL_BELOW, POLICY_DEFAULT } from "../../../contract/policies.ts"
import { CodeBlock } from "../ui/layout.tsx"
import { PolicyTables } from "../ui/policy-tables.tsx"
import { GuidePage, To } from "./guide-page.tsx"

/** How a policy turns a category into a recommendation. */
export function PoliciesPage() {
  return (
    <GuidePage route="docsPolicies">
      <p class="lead">A category says what an address is. A policy says what to do about it.</p>
      <p>
        Name one with <code>policy</code> in a check or a batch; without it <code>{POLICY_DEFAULT}</code> holds. The
        category, its confidence and its reasons are the same under each.
      </p>
      <CodeBlock caption="Body" code={'{"email": "jane@gmail.com", "policy": "strict"}'} />
      <PolicyTables />
      <h2 id="own-lists">Your own lists</h2>
      <p>
        What stands on a block list is <code>block</code> under every policy; what stands on your allow list is{" "}
        <code>allow</code>, unless it is no address at all or the operator blocks it.
      </p>
      <h2 id="confidence">Confidence</h2>
      <p>
        A business whose confidence is under {DOUBTFUL_BELOW} is doubtful, as the table above has it. How sure each
        reason is stands under <To page="docsReasons">Reasons</To>. <code>shared_inbox</code> and <code>group</code> are
        hints: they never change a recommendation.
      </p>
    </GuidePage>
  )
}
