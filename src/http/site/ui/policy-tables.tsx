/** @jsxImportSource preact */
import { CATEGORY_NAMES } from "../../../contract/categories.ts"
import {
  POLICIES,
  POLICY_DEFAULT,
  POLICY_NAMES,
  RECOMMENDATION_FLOORS,
  type Recommendation,
  type RecommendationFloor,
} from "../../../contract/policies.ts"
import { Prose, Table } from "./layout.tsx"

/** How a category becomes a recommendation under each policy, and what raises it. */
export function PolicyTables() {
  return (
    <>
      <section aria-labelledby="policies">
        <h2 id="policies">Policies</h2>
        <dl class="facts">
          {POLICY_NAMES.map(policy => (
            <div key={policy}>
              <dt>
                <code>{policy}</code>
              </dt>
              <dd>
                {POLICIES[policy].description} {policy === POLICY_DEFAULT ? "The default." : ""}
              </dd>
            </div>
          ))}
        </dl>
        <PolicyMatrix />
      </section>
      <section aria-labelledby="raises">
        <h2 id="raises">What raises a recommendation</h2>
        <p>Each of these makes the recommendation at least as severe as its row says. None of them lowers it.</p>
        <RaiseMatrix />
      </section>
    </>
  )
}

function PolicyMatrix() {
  return (
    <Table caption="Recommendation by category and policy" columns={["Category", ...POLICY_NAMES]}>
      {CATEGORY_NAMES.map(category => (
        <tr key={category}>
          <th scope="row">
            <code>{category}</code>
          </th>
          {POLICY_NAMES.map(policy => (
            <td key={policy} class="choice">
              <RecommendationBadge recommendation={POLICIES[policy][category]} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

function RaiseMatrix() {
  return (
    <Table caption="Least recommendation by circumstance and policy" columns={["Circumstance", ...POLICY_NAMES]}>
      {RAISE_NAMES.map(raise => (
        <tr key={raise} id={`raise-${raise}`}>
          <th scope="row">
            <Prose text={RECOMMENDATION_FLOORS[raise].description} />
          </th>
          {POLICY_NAMES.map(policy => (
            <td key={policy} class="choice">
              <RaisedRecommendation least={RECOMMENDATION_FLOORS[raise][policy]} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

const RAISE_NAMES = Object.keys(RECOMMENDATION_FLOORS) as RecommendationFloor[] // the keys of a table are its type's

/** A recommendation, coloured; the word alone says all. */
export function RecommendationBadge({ recommendation }: { readonly recommendation: Recommendation }) {
  return <span class={`advice ${recommendation}`}>{recommendation}</span>
}

/** `allow` raises nothing. */
function RaisedRecommendation({ least }: { readonly least: Recommendation }) {
  return least === "allow" ? <>–</> : <RecommendationBadge recommendation={least} />
}
