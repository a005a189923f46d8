/** @jsxImportSource preact */
import { POLICY_NAMES, type Policy } from "../../../contract/policies.ts"
import { TEST_ADDRESSES } from "../../../contract/test-addresses.ts"
import { exampleResult } from "../../response/example-responses.ts"
import { EXAMPLE_LANGUAGE_NAMES, EXAMPLE_LANGUAGES } from "../docs/examples.ts"
import { SelectField } from "../ui/forms.tsx"
import { CodeBlock, prettyJson, Tabs } from "../ui/layout.tsx"
import type { Operation, OperationContent } from "./operations.ts"
import { requestSample, type SampleRequest } from "./request-samples.ts"
import { DocumentText } from "./schema-tree.tsx"

/** The test address that the example checks, and its policy. */
export type ExampleChoice = { readonly address: string; readonly policy: Policy }

/** Whether the operation checks one address, which it does for test addresses without a key. */
export const isCheck = ({ access }: Pick<Operation, "access">): boolean => access === "key or test address"

type ExamplePairProps = {
  readonly operation: Operation
  readonly choice: ExampleChoice
  readonly baseUrl: string
  readonly testDomain: string
}

/** A request in every language beside its answer. A check can be tried: with another test address and another policy. */
export function ExamplePair({ operation, choice, baseUrl, testDomain }: ExamplePairProps) {
  const request = sampleRequest(operation, choice, baseUrl, testDomain)
  const checked = isCheck(operation) ? exampleResult(choice.address, testDomain, choice.policy) : undefined
  // A request that is accepted is the usual one; with parameters that the request leaves out it gets another answer.
  const usual = operation.answers.find(({ name }) => name === "202") ?? operation.answers[0]
  return (
    <div class="beside-text">
      {isCheck(operation) ? <ChoiceForm operation={operation} choice={choice} testDomain={testDomain} /> : null}
      <RequestTabs request={request} />
      {usual === undefined ? null : <Answer answer={usual} example={checked ?? usual.example} />}
      {operation.answers
        .filter(answer => answer !== usual && answer.example !== undefined)
        .map(answer => (
          <details key={answer.name}>
            <summary>
              <DocumentText text={answer.description} />
            </summary>
            <Answer answer={answer} example={answer.example} />
          </details>
        ))}
    </div>
  )
}

const Answer = ({ answer, example }: { readonly answer: OperationContent; readonly example: unknown }) =>
  example === undefined ? null : (
    <CodeBlock caption={`Answer ${answer.name}`} code={prettyJson(example)} language="json" />
  )

/** A request in every language. One is shown at a time. */
export const RequestTabs = ({ request }: { readonly request: SampleRequest }) => (
  <Tabs
    label="Language"
    name="language"
    tabs={EXAMPLE_LANGUAGE_NAMES.map(language => {
      const { label, fence } = EXAMPLE_LANGUAGES[language]
      return {
        label,
        content: <CodeBlock caption="Request" code={requestSample(language, request)} language={fence} />,
      }
    })}
  />
)

type ChoiceFormProps = Omit<ExamplePairProps, "baseUrl">

const ChoiceForm = ({ operation, choice, testDomain }: ChoiceFormProps) => (
  <form class="try" method="get" action={operation.page}>
    <SelectField
      name="address"
      label="Try it without a key"
      options={Object.keys(TEST_ADDRESSES).map(name => ({ value: name, label: `${name}@${testDomain}` }))}
      selected={choice.address}
    />
    <SelectField
      name="policy"
      label="Policy"
      options={POLICY_NAMES.map(policy => ({ value: policy, label: policy }))}
      selected={choice.policy}
    />
    <button type="submit">Send</button>
  </form>
)

function sampleRequest(
  operation: Operation,
  choice: ExampleChoice,
  baseUrl: string,
  testDomain: string,
): SampleRequest {
  const { method, path, parameters, body, access, answers } = operation
  const subject = { email: `${choice.address}@${testDomain}`, policy: choice.policy }
  const examples = parameters.flatMap(({ place, name, example }) =>
    example === undefined ? [] : [{ place, name, example: String(example) }],
  )
  const inPath = examples.filter(({ place }) => place === "path")
  const filled = inPath.reduce((text, { name, example }) => text.replace(`{${name}}`, example), path)
  const query = isCheck(operation)
    ? method === "GET"
      ? Object.entries(subject)
      : []
    : examples.filter(({ place }) => place === "query").map(({ name, example }) => [name, example])
  const search = new URLSearchParams(query).toString().replaceAll("%40", "@")
  const sent = () => {
    if (body === null) return null
    if (body.example === undefined) return { file: "customers.csv", mediaType: "text/csv" }
    return { json: isCheck(operation) ? subject : body.example }
  }
  return {
    method,
    url: `${baseUrl}${filled}${search === "" ? "" : `?${search}`}`,
    needsKey: access === "secret key",
    body: sent(),
    isAnswerJson: answers[0]?.mediaTypes[0] === "application/json",
  }
}
