/** @jsxImportSource preact */
import { CATEGORIES, CATEGORY_NAMES } from "../../contract/categories.ts"
import { ROUTES } from "../../contract/routes.ts"
import { exampleResult } from "../openapi-examples.ts"
import { Layout, pretty, Sample, Table } from "./layout.tsx"

type Props = {
  readonly baseUrl: string
  readonly testDomain: string
}

/** The first page: what this server is, and a command that works at once. */
export function HomePage({ baseUrl, testDomain }: Props) {
  return (
    <Layout route="home" title="mailkind">
      <p class="lead">
        Tells what an email address, a domain or a website URL is: a business, a free mailbox, a throw-away one, a
        privacy relay, a school, a government body, or nothing that exists.
      </p>
      <h2>Try it</h2>
      <p>Addresses under the test domain need no key and always get the same verdict.</p>
      <Sample caption="Command" code={curlLine(baseUrl, `business@${testDomain}`)} />
      <Sample caption="Answer" code={pretty(exampleResult("business", testDomain))} />
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
    </Layout>
  )
}

/** A command for a shell that asks this server about an address; the body keeps the address out of URLs and logs. */
export const curlLine = (baseUrl: string, address: string): string =>
  [
    `curl -s '${baseUrl}${ROUTES.postCheck.path}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ email: address })}'`,
  ].join(" \\\n  ")

const LINKS = [
  { route: "docs", label: "API reference" },
  { route: "openapi", label: "OpenAPI document" },
  { route: "docsErrors", label: "Errors" },
  { route: "docsReasons", label: "Reasons" },
  { route: "docsTestAddresses", label: "Test addresses" },
  { route: "docsLists", label: "Lists" },
  { route: "getHealth", label: "Health" },
] as const
