/** @jsxImportSource preact */
import {
  CHECKER_REFUSAL_ORDER,
  PROBLEM_CODES,
  PROBLEMS,
  type ProblemCode,
  REFUSAL_ORDER,
} from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { exampleProblem, problemHeaders } from "../../openapi/examples.ts"
import { AdviceSection } from "../docs/advice-section.tsx"
import { GuidePage } from "../docs/guide-page.tsx"
import { CodeBlock, ProblemCodeLinks, Prose, prettyJson, Table } from "../ui/layout.tsx"

/** Every problem code under an anchor of its name, and the order in which a request is refused. */
export function ErrorsPage({ baseUrl }: { readonly baseUrl: string }) {
  return (
    <GuidePage route="docsErrors">
      <p class="lead">
        A refused request gets a body of type <code>application/problem+json</code> (RFC 9457). Branch on{" "}
        <code>code</code>, which is stable; <code>title</code> and <code>detail</code> are for people and may change.
      </p>
      <Table caption="All codes" columns={["Code", "Status", "Retry"]}>
        {PROBLEM_CODES.map(code => (
          <tr key={code}>
            <th scope="row">
              <a href={`#${code}`}>
                <code>{code}</code>
              </a>
            </th>
            <td>
              {PROBLEMS[code].status} {PROBLEMS[code].title}
            </td>
            <td>
              <Prose text={PROBLEMS[code].retry} />
            </td>
          </tr>
        ))}
      </Table>
      <AdviceSection />
      <RefusalOrders />
      {PROBLEM_CODES.map(code => (
        <ProblemSection key={code} code={code} baseUrl={baseUrl} />
      ))}
    </GuidePage>
  )
}

function RefusalOrders() {
  return (
    <>
      <h2 id="order">Order of refusals</h2>
      <p>A request is looked at in this order. When several problems apply, the first one is sent.</p>
      <RefusalOrderList steps={REFUSAL_ORDER} />
      <h2 id="checker-order">Order of refusals of the free checker</h2>
      <p>
        The form of the <a href={ROUTES.home.path}>first page</a> is no part of the API. Its own codes come from there
        alone, and requests with a key never get them.
      </p>
      <RefusalOrderList steps={CHECKER_REFUSAL_ORDER} />
    </>
  )
}

type RefusalSteps = readonly { readonly step: string; readonly codes: readonly ProblemCode[] }[]

function RefusalOrderList({ steps }: { readonly steps: RefusalSteps }) {
  return (
    <ol class="order">
      {steps.map(({ step, codes }) => (
        <li key={step}>
          {step}: <ProblemCodeLinks codes={codes} />
        </li>
      ))}
    </ol>
  )
}

function ProblemSection({ code, baseUrl }: { readonly code: ProblemCode; readonly baseUrl: string }) {
  const { status, title, cause, retry } = PROBLEMS[code]
  const headers = Object.entries(problemHeaders(code)).map(([name, value]) => `${name}: ${value}\n`)
  return (
    <section id={code} aria-labelledby={`${code}-title`}>
      <h2 id={`${code}-title`}>
        <a class="anchor" href={`#${code}`}>
          <code>{code}</code>
        </a>
      </h2>
      <dl class="facts">
        <dt>Status</dt>
        <dd>
          {status} {title}
        </dd>
        <dt>Cause</dt>
        <dd>
          <Prose text={cause} />
        </dd>
        <dt>Retry</dt>
        <dd>
          <Prose text={retry} />
        </dd>
      </dl>
      <CodeBlock
        caption="Example"
        code={`HTTP/1.1 ${status} ${title}\n${headers.join("")}\n${prettyJson(exampleProblem(code, baseUrl))}`}
      />
    </section>
  )
}
