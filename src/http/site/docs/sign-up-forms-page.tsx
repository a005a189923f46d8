/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { exampleReducedResult } from "../../openapi/examples.ts"
import { CodeBlock, prettyJson, Table } from "../ui/layout.tsx"
import { type ExampleFacts, signUpFormText } from "./examples.ts"
import { GuidePage, To } from "./guide-page.tsx"

type Props = { readonly facts: ExampleFacts; readonly testDomain: string }

/** How a sign-up form is helped by a publishable key, and decided by a secret one. */
export function SignUpFormsPage({ facts, testDomain }: Props) {
  return (
    <GuidePage route="docsSignUpForms">
      <p class="lead">The page helps whoever fills in the form. The decision is your server's.</p>
      <h2 id="page">In the page</h2>
      <p>
        Create a publishable key with the origins of your pages, each a scheme, host and port such as{" "}
        <code>https://www.example.com</code>. It may stand in the page: it gets a reduced result, from those origins
        alone, and has <To page="docsLimits">small limits</To> of its own.
      </p>
      <CodeBlock caption="sign-up.html" code={signUpFormText("svc_pub_…", facts)} />
      <p>
        The answer has the verdict, the first {LIMITS.publishableReasonsMax} reasons and a suggestion for a slip of the
        keyboard, and none of what was found in DNS:
      </p>
      <CodeBlock caption="Answer" code={prettyJson(exampleReducedResult("typo", testDomain))} />
      <p>
        Never refuse to send the form for it. A hint is not a gate: scripts can be switched off, the question can fail,
        and the origin can be forged outside of a browser.
      </p>
      <OnTheServer />
    </GuidePage>
  )
}

function OnTheServer() {
  return (
    <>
      <h2 id="server">On the server</h2>
      <p>
        When the form arrives, ask again with a secret key, as in the <To page="docsStart">quick start</To>, and go by{" "}
        <code>recommendation</code>:
      </p>
      <Table caption="What to do with a recommendation" columns={["Recommendation", "Do"]}>
        <tr>
          <th scope="row">
            <code>allow</code>
          </th>
          <td>Let them in.</td>
        </tr>
        <tr>
          <th scope="row">
            <code>review</code>
          </th>
          <td>
            Let them in with less: no trial credit yet, a person looks at it, or a mail has to be confirmed first. Where{" "}
            <code>did_you_mean</code> is there, ask whether they meant it.
          </td>
        </tr>
        <tr>
          <th scope="row">
            <code>block</code>
          </th>
          <td>Ask for another address, kindly, and say which kind you take.</td>
        </tr>
        <tr>
          <th scope="row">no answer, 429 or 5xx</th>
          <td>
            Let them in and check again later: <To page="docsDegraded">failing open</To>.
          </td>
        </tr>
      </Table>
      <p>
        Keep <code>request_id</code> with the sign-up. When somebody was turned away wrongly, correct it for yourself
        with an allow list, and for everybody with <code>{ROUTES.postFeedback.path}</code>.
      </p>
    </>
  )
}
