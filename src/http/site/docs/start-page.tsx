/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { POLICY_DEFAULT } from "../../../contract/policies.ts"
import { exampleResult } from "../../openapi/examples.ts"
import { curlCommand } from "../ui/format.ts"
import { CodeBlock, prettyJson } from "../ui/layout.tsx"
import {
  callerTimeoutSeconds,
  type ExampleFacts,
  exampleFile,
  exampleText,
  KEY_VARIABLE,
  LANGUAGE_NAMES,
  LANGUAGES,
  PATIENCE,
  TASKS,
  type Task,
} from "./examples.ts"
import { GuidePage, To } from "./guide-page.tsx"

type Props = { readonly facts: ExampleFacts; readonly testDomain: string }

/** The first steps with every operation of the API, each in every language, as programs that run as they stand. */
export function StartPage({ facts, testDomain }: Props) {
  return (
    <GuidePage route="docsStart">
      <p class="lead">Ask about an address before you have a key, then use one from your own program.</p>
      <FirstQuestion facts={facts} testDomain={testDomain} />
      <KeyPart />
      <TaskPart task="check" facts={facts}>
        <p>
          The program prints what to do. It keeps to three rules that your own should have: the key is read from the
          environment; nothing is waited for longer than {callerTimeoutSeconds(facts.checkTimeoutMs)} seconds; and when
          there is no answer, or one with status 429 or 5xx, the person is let in and looked at later (
          <To page="docsDegraded">failing open</To>).
        </p>
      </TaskPart>
      <TaskPart task="batch" facts={facts}>
        <p>
          Up to {LIMITS.batchItemsMax} addresses, domains and website addresses in one request, with a result for each
          in their order. A job can wait: these programs try again when they are told to, {PATIENCE.attempts} times at
          most, and give up when they would wait longer than {PATIENCE.waitMaxSeconds} seconds.
        </p>
      </TaskPart>
      <TaskPart task="feedback" facts={facts}>
        <p>
          Tell the operator when a verdict is wrong. Of the address only its domain and role are kept; once the report
          is accepted, everybody gets the reported category. The same report within {LIMITS.feedbackDuplicateDays} days
          is answered with the first one's <code>id</code> and the status <code>duplicate</code>.
        </p>
      </TaskPart>
      <TaskPart task="usage" facts={facts}>
        <p>
          How many units are used and left today, by key, and what happened on each of the last {LIMITS.usageDays} days.
          It costs nothing.
        </p>
      </TaskPart>
    </GuidePage>
  )
}

function FirstQuestion({ facts, testDomain }: Props) {
  return (
    <>
      <h2 id="first">The first question</h2>
      <p>
        <To page="docsTestAddresses">Test addresses</To> need no key and cost nothing. Paste this into a shell:
      </p>
      <CodeBlock caption="Command" code={curlCommand(facts.baseUrl, `business@${testDomain}`)} />
      <details>
        <summary>What it answers</summary>
        <CodeBlock caption="Answer" code={prettyJson(exampleResult("business", testDomain))} />
      </details>
      <p>
        Four members are enough for most: <code>recommendation</code> (<code>allow</code>, <code>review</code> or{" "}
        <code>block</code> under a <To page="docsPolicies">policy</To>, <code>{POLICY_DEFAULT}</code> where none is
        named), <code>category</code>, <code>confidence</code>, and <code>reasons</code>, each of which has{" "}
        <To page="docsReasons">a sentence</To>.
      </p>
    </>
  )
}

function KeyPart() {
  return (
    <>
      <h2 id="key">Your key</h2>
      <p>
        Every other question needs a key. Who runs the server gets the first one on its first start; everybody else
        finds theirs in the <To page="dashboard">dashboard</To>. A secret key belongs in the environment of a server,
        never in code, in a page or in a URL:
      </p>
      <CodeBlock caption="Shell" code={`export ${KEY_VARIABLE}=svc_live_…`} />
      <p>
        How to keep and exchange it is told under <To page="docsKeys">Keys and rotation</To>.
      </p>
    </>
  )
}

function TaskPart({
  task,
  facts,
  children,
}: {
  readonly task: Task
  readonly facts: ExampleFacts
  readonly children: preact.ComponentChildren
}) {
  return (
    <section aria-labelledby={task}>
      <h2 id={task}>{TASKS[task].title}</h2>
      {children}
      {LANGUAGE_NAMES.map((language, at) => (
        <details key={language} open={at === 0}>
          <summary>{LANGUAGES[language].label}</summary>
          <CodeBlock caption={exampleFile(task, language)} code={exampleText(task, language, facts)} />
        </details>
      ))}
    </section>
  )
}
