/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_NAMES } from "../../../contract/policies.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TEST_ADDRESSES, TEST_PROBLEMS } from "../../../contract/test-addresses.ts"
import { exampleResult } from "../../openapi/examples.ts"
import { GuidePage } from "../docs/guide-page.tsx"
import { curlCommand } from "../ui/format.ts"
import { CodeBlock, Prose, Table } from "../ui/layout.tsx"
import { RecommendationBadge } from "../ui/policy-tables.tsx"

type TestAddressesPageProps = { readonly baseUrl: string; readonly testDomain: string }

/** Every test address, its verdict, and the recommendation under each policy as the server itself gives it. */
export function TestAddressesPage({ baseUrl, testDomain }: TestAddressesPageProps) {
  return (
    <GuidePage route="docsTestAddresses">
      <p class="lead">
        Addresses under <code>{testDomain}</code> need no key, cost nothing and always get the same answer.
      </p>
      <p>
        The local part decides; a <code>+tag</code> is allowed, and a subdomain of the test domain too. Any other local
        part is <code>unknown</code>. Without a key {LIMITS.keylessPerSecond} requests a second are answered for each
        client address. A key that is sent is still verified.
      </p>
      <CodeBlock caption="Command" code={curlCommand(baseUrl, `disposable@${testDomain}`)} />
      <h2 id="verdicts">Verdicts</h2>
      <VerdictsTable testDomain={testDomain} />
      <h2 id="problems">Problems</h2>
      <ProblemsTable testDomain={testDomain} />
    </GuidePage>
  )
}

function VerdictsTable({ testDomain }: Pick<TestAddressesPageProps, "testDomain">) {
  return (
    <Table caption="Test addresses with a verdict" columns={["Address", "Meaning", "Category", ...POLICY_NAMES]}>
      {Object.entries(TEST_ADDRESSES).map(([localPart, { description, category }]) => (
        <tr key={localPart} id={localPart}>
          <AddressRowHeader localPart={localPart} testDomain={testDomain} />
          <td>
            <Prose text={description} />
          </td>
          <td>{category}</td>
          {POLICY_NAMES.map(policy => (
            <td key={policy}>
              <RecommendationBadge recommendation={exampleResult(localPart, testDomain, policy).recommendation} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

function ProblemsTable({ testDomain }: Pick<TestAddressesPageProps, "testDomain">) {
  return (
    <Table caption="Test addresses that are refused" columns={["Address", "Meaning", "Status", "Code"]}>
      {Object.entries(TEST_PROBLEMS).map(([localPart, { description, code }]) => (
        <tr key={localPart} id={localPart}>
          <AddressRowHeader localPart={localPart} testDomain={testDomain} />
          <td>
            <Prose text={description} />
          </td>
          <td>
            {PROBLEMS[code].status} {PROBLEMS[code].title}
          </td>
          <td>
            <a href={`${ROUTES.docsErrors.path}#${code}`}>
              <code>{code}</code>
            </a>
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The address, as a link to its answer. */
function AddressRowHeader({ localPart, testDomain }: { readonly localPart: string; readonly testDomain: string }) {
  const address = `${localPart}@${testDomain}`
  return (
    <th scope="row">
      <a href={`${ROUTES.getCheck.path}?${new URLSearchParams({ email: address })}`}>
        <code>{address}</code>
      </a>
    </th>
  )
}
