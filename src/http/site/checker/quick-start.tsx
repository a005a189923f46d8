/** @jsxImportSource preact */
import { CATEGORIES, CATEGORY_NAMES } from "../../../contract/categories.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { exampleResult } from "../../openapi-examples.ts"
import { curlLine } from "../curl-line.ts"
import { pretty, Sample, Table } from "../layout.tsx"

/** What the sections about the API are made from. */
export type QuickStartProps = { readonly baseUrl: string; readonly testDomain: string }

/** What mailkind is beside the checker, a command that works at once, the categories, and where to read on. */
export function QuickStart({ baseUrl, testDomain }: QuickStartProps) {
  return (
    <>
      <h2 id="api">The same from your own program</h2>
      <p>
        mailkind sorts sign-ups by what stands behind an address: it asks lists and DNS, and never the mailbox itself.{" "}
        <a href={ROUTES.signIn.path}>Sign in for a free key</a>, or read the{" "}
        <a href={ROUTES.docs.path}>API reference</a>. Addresses under the test domain need no key and always get the
        same verdict:
      </p>
      <Sample caption="Command" code={curlLine(baseUrl, `business@${testDomain}`)} />
      <details>
        <summary>What it answers</summary>
        <Sample caption="Answer" code={pretty(exampleResult("business", testDomain))} />
      </details>
      <p>
        Every other input needs a key in the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>. There are{" "}
        <a href={ROUTES.docsTestAddresses.path}>test addresses</a> for every kind of verdict.
      </p>
      <h2 id="categories">Categories</h2>
      <Table caption="Categories" columns={["Category", "Meaning", "Business"]}>
        {CATEGORY_NAMES.map(category => (
          <tr key={category}>
            <th scope="row">
              <code>{category}</code>
            </th>
            <td>{CATEGORIES[category].says}</td>
            <td>{CATEGORIES[category].isBusiness ? "yes" : "no"}</td>
          </tr>
        ))}
      </Table>
      <h2>Documentation</h2>
      <dl class="links">
        {LINKS.map(({ route, label }) => (
          <div key={route}>
            <dt>
              <a href={ROUTES[route].path}>{label}</a>
            </dt>
            <dd>{ROUTES[route].says}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const LINKS = [
  { route: "docsGuide", label: "Guide" },
  { route: "docsStart", label: "Quick start" },
  { route: "docs", label: "API reference" },
  { route: "docsLists", label: "Lists" },
  { route: "docsPrivacy", label: "Privacy" },
  { route: "docsSelfHosting", label: "Self-hosting" },
] as const
