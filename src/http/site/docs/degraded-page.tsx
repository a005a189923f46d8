/** @jsxImportSource preact */
import { POLICY_NAMES } from "../../../contract/policies.ts"
import { DEGRADED } from "../../../contract/reasons.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { exampleResult } from "../../openapi/examples.ts"
import { Table } from "../ui/layout.tsx"
import { RecommendationBadge } from "../ui/policy-tables.tsx"
import { callerTimeoutSeconds, type ExampleFacts } from "./examples.ts"
import { GuidePage, To } from "./guide-page.tsx"

type Props = { readonly facts: ExampleFacts; readonly testDomain: string }

/** What a degraded answer is, and what to do where there is none. */
export function DegradedPage({ facts, testDomain }: Props) {
  return (
    <GuidePage route="docsDegraded">
      <p class="lead">
        Two things can go wrong: an answer that knows less, and no answer. Neither should cost you a customer.
      </p>
      <h2 id="degraded">An answer that knows less</h2>
      <p>
        A check asks the lists first, then what the domain publishes in DNS, for{" "}
        {facts.checkTimeoutMs.toLocaleString("en")} ms together at most. Where DNS does not answer in time the verdict
        rests on lists alone. It says so: <code>degraded</code> is true, <code>dns_unavailable</code> is among the{" "}
        <code>reasons</code>, and the confidence is lower: {DEGRADED.factor} times what it would be, and{" "}
        {DEGRADED.no_evidence} where no list knows the name.
      </p>
      <p>
        What lists know stays right: throw-away, free and known domains have the category that they always have. What no
        list knows is <code>unknown</code>, never <code>invalid</code>, and a degraded answer alone never means{" "}
        <code>block</code>.
      </p>
      <Table caption="A degraded business" columns={["Policy", "Recommendation"]}>
        {POLICY_NAMES.map(policy => (
          <tr key={policy}>
            <th scope="row">
              <code>{policy}</code>
            </th>
            <td>
              <RecommendationBadge recommendation={exampleResult("degraded", testDomain, policy).recommendation} />
            </td>
          </tr>
        ))}
      </Table>
      <p>
        Take it, let them in, and check again later. To see one now ask about <code>degraded@{testDomain}</code>.
        Whether DNS is there is told by <code>{ROUTES.getHealth.path}</code> (<code>dns.status</code>).
      </p>
      <FailOpen facts={facts} testDomain={testDomain} />
    </GuidePage>
  )
}

function FailOpen({ facts, testDomain }: Props) {
  return (
    <>
      <h2 id="fail-open">No answer: fail open</h2>
      <p>
        Decide beforehand what your sign-up does when the question fails. Letting people in is nearly always right: one
        throw-away account costs less than a closed door.
      </p>
      <ul>
        <li>
          Wait {callerTimeoutSeconds(facts.checkTimeoutMs)} seconds, which is longer than a check may take, and no
          longer.
        </li>
        <li>
          Let in on no answer, on 429 and on 5xx. Other statuses are mistakes of the program or the key: log them
          loudly, and let in too. The <To page="docsErrors">errors page</To> has them all.
        </li>
        <li>Do not try again while somebody waits. Note the address and check it in a job, as a batch.</li>
        <li>
          Count what went unchecked, and have somebody told when it is more than a few: a key that was revoked looks
          like this.
        </li>
      </ul>
      <p>
        The programs of the <To page="docsStart">quick start</To> do all of this.{" "}
        <To page="docsTestAddresses">Test addresses</To> are there for each failure: <code>error-429@{testDomain}</code>
        , <code>error-quota@{testDomain}</code> and <code>error-500@{testDomain}</code>.
      </p>
    </>
  )
}
