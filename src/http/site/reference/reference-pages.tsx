/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { ROUTES } from "../../../contract/routes.ts"
import type { OpenApiDocument } from "../../openapi/openapi-document.ts"
import { Crumb, PageLink, SidePages } from "../docs/page-links.tsx"
import { formatCount } from "../ui/format.ts"
import { CodeBlock, DescriptionList, Layout, prettyJson } from "../ui/layout.tsx"
import { Panel } from "../ui/panels.tsx"
import { type ExampleChoice, ExamplePair, isCheck } from "./example-pair.tsx"
import {
  type Described,
  type Operation,
  type OperationContent,
  type OperationGroup,
  operationGroups,
  textIn,
} from "./operations.ts"
import {
  codes,
  type Direction,
  DocumentText,
  presenceText,
  schemaMember,
  schemaTree,
  type TreePage,
} from "./schema-tree.tsx"

/** What the pages of the reference are made from. */
export type ReferenceFacts = {
  readonly document: OpenApiDocument
  readonly groups: readonly OperationGroup[]
  /** The codes with which every operation that takes a key may refuse. */
  readonly commonCodes: readonly string[]
  readonly testDomain: string
}

/** Makes what the pages share, once for all of them. */
export function referenceFacts(document: OpenApiDocument, testDomain: string): ReferenceFacts {
  const groups = operationGroups(document)
  const commonCodes = groups
    .flatMap(({ operations }) => operations.filter(({ access }) => access !== "anybody"))
    .map(({ problems }) => problems.map(({ code }) => code))
    .reduce((common, codes) => common.filter(code => codes.includes(code)))
  return { document, groups, commonCodes, testDomain }
}

/** The index: all operations by their groups, and what holds for every request. */
export function ReferenceIndex({ document, groups }: ReferenceFacts) {
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0)
  const keys = Object.values(document.components["securitySchemes"] ?? {}).map(scheme => textIn(scheme, "description"))
  return (
    <Layout route="docs" title="API reference" sidebar={<OperationLinks groups={groups} current={ROUTES.docs.path} />}>
      <p class="lead">
        {formatCount(count, "operation")}, JSON over HTTPS. Each page has the request beside its answer, and every
        member of both.
      </p>
      <Panel>
        <DescriptionList
          items={[
            [
              "Address",
              <span class="copy-cell">
                <code id="address">{document.servers[0]?.url}</code>
                <span data-copy="address" />
              </span>,
            ],
            ["Key", <DocumentText key="key" text={keys.join(" ")} />],
            ["Without a key", <PageLink page="docsTestAddresses">test addresses, with fixed verdicts</PageLink>],
            ["Complete programs", <PageLink page="docsStart">curl, JavaScript, Python, PHP and Go</PageLink>],
            ["For generators", <PageLink page="openapi">OpenAPI {document.openapi} as JSON</PageLink>],
          ]}
        />
      </Panel>
      {groups.map(({ title, description, operations }) => (
        <section key={title}>
          <h2>{title}</h2>
          <p>
            <DocumentText text={description} />
          </p>
          <ul class="operations">
            {operations.map(operation => (
              <li key={operation.id}>
                <a href={operation.page}>
                  <Endpoint {...operation} />
                  <span>{operation.summary}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <EveryRequest document={document} />
    </Layout>
  )
}

const EveryRequest = ({ document }: Pick<ReferenceFacts, "document">) => (
  <>
    <h2>Every request</h2>
    <ul>
      {textIn(document.info, "description")
        .split(/(?<=\.) (?=[A-Z])/)
        // The first sentence is about the API as a whole.
        .slice(1)
        .map(sentence => (
          <li key={sentence}>
            <DocumentText text={sentence} />
          </li>
        ))}
    </ul>
    <p>
      <PageLink page="docsErrors">All errors</PageLink>
    </p>
  </>
)

/** The method and the path. Long paths break at their slashes. */
const Endpoint = ({ method, path }: Pick<Operation, "method" | "path">) => (
  <>
    <span class={`method ${method.toLowerCase()}`}>{method}</span>{" "}
    <code>
      {path.split(/(?=\/)/).map(part => (
        <>
          {part}
          <wbr />
        </>
      ))}
    </code>
  </>
)

type OperationLinksProps = { readonly groups: readonly OperationGroup[]; readonly current: string }

/** Links to every operation. */
const OperationLinks = ({ groups, current }: OperationLinksProps) => (
  <SidePages
    label="API reference"
    groups={groups.map(({ title, operations }) => ({
      title,
      pages: operations.map(({ page, summary }) => ({ path: page, title: summary })),
    }))}
    current={current}
  />
)

type OperationPageProps = ReferenceFacts & {
  readonly operation: Operation
  readonly choice: ExampleChoice
  /** The path of the script that shows another example in place. */
  readonly scriptPath: string
}

/** The page of an operation: its request beside its answer, then everything about both. */
export function OperationPage({ operation, choice, scriptPath, ...facts }: OperationPageProps) {
  const { document, groups, commonCodes, testDomain } = facts
  const { method, path, page, summary, description, access, body, answers } = operation
  const tree: TreePage = { document, shown: new Set() }
  const baseUrl = document.servers[0]?.url ?? ""
  const group = groups.find(each => each.operations.includes(operation))
  return (
    <Layout
      route="docsApiOperation"
      address={{ path: page, description: description.replaceAll("`", "") }}
      title={summary}
      tabTitle={`${method} ${path} · mailkind API`}
      scripts={isCheck(operation) ? [scriptPath] : []}
      aboveTitle={<Crumb parent="docs" title="API reference" part={group?.title ?? ""} />}
      sidebar={<OperationLinks groups={groups} current={page} />}
    >
      <p class="endpoint">
        <Endpoint method={method} path={path} />
      </p>
      <div class="operation">
        <div>
          <p class="lead">
            <DocumentText text={description} />
          </p>
          <p>{ACCESS[access]}</p>
        </div>
        <ExamplePair operation={operation} choice={choice} baseUrl={baseUrl} testDomain={testDomain} />
        <div>
          <Parameters operation={operation} tree={tree} />
          {body === null ? null : <Content title="Body" content={body} direction="request" tree={tree} />}
          {answers.map(answer => (
            <Content
              key={answer.name}
              title={`Answer ${answer.name}`}
              content={answer}
              direction="answer"
              tree={tree}
            />
          ))}
          <Problems operation={operation} commonCodes={commonCodes} tree={tree} />
          <Headers operation={operation} tree={tree} />
        </div>
      </div>
    </Layout>
  )
}

const ACCESS: Readonly<Record<string, ComponentChildren>> = {
  anybody: "Anybody may call it. It takes no key.",
  "secret key": (
    <>
      Takes a <PageLink page="docsKeys">secret key</PageLink>.
    </>
  ),
  "key or test address": (
    <>
      Takes a <PageLink page="docsKeys">secret or publishable key</PageLink>.{" "}
      <PageLink page="docsTestAddresses">Test addresses</PageLink> need none.
    </>
  ),
}

type PartProps = { readonly operation: Operation; readonly tree: TreePage }

const PARAMETER_TITLES = { path: "Path parameters", query: "Query parameters", header: "Headers" } as const

/** What is sent with the request beside its body, by where it stands. */
const Parameters = ({ operation, tree }: PartProps) => (
  <>
    {Object.entries(PARAMETER_TITLES).map(([place, title]) => (
      <MemberSection
        key={place}
        id={`${place}-parameters`}
        title={title}
        direction="request"
        tree={tree}
        members={operation.parameters
          .filter(parameter => parameter.place === place)
          .map(parameter => ({ ...parameter, presence: presenceText(parameter.isRequired, "request") }))}
      />
    ))}
  </>
)

type MemberSectionProps = {
  readonly id: string
  readonly title: string
  readonly direction: Direction
  readonly tree: TreePage
  readonly members: readonly (Described & { readonly presence: string })[]
}

function MemberSection({ id, title, direction, tree, members }: MemberSectionProps) {
  if (members.length === 0) return null
  return (
    <>
      <h2 id={id}>{title}</h2>
      <ul class="members">
        {members.map(({ name, description, schema, presence }) =>
          schemaMember({ name, schema: { ...schema, description }, presence, direction, page: tree }),
        )}
      </ul>
    </>
  )
}

type ContentProps = {
  readonly title: string
  readonly content: OperationContent
  readonly direction: Direction
  readonly tree: TreePage
}

function Content({ title, content, direction, tree }: ContentProps) {
  const { description, mediaTypes, schema } = content
  return (
    <>
      <h2 id={title.toLowerCase().replace(" ", "-")}>{title}</h2>
      <p>
        <DocumentText text={description} />
      </p>
      {mediaTypes.length === 0 ? null : <p class="type">{codes(mediaTypes)}</p>}
      {mediaTypes.length === 0 ? null : schemaTree(schema, direction, tree)}
    </>
  )
}

/** Why the operation refuses, and the body that says so. What every request may meet is named alone. */
function Problems({ operation: { problems }, commonCodes, tree }: PartProps & Pick<ReferenceFacts, "commonCodes">) {
  const shared = problems.filter(({ code }) => commonCodes.includes(code))
  const own = problems.filter(({ code }) => !commonCodes.includes(code))
  const name = problems.some(({ code }) => code === "rate_limited") ? "RetryProblem" : "Problem"
  const examples = tree.document.components["examples"] ?? {}
  const example = examples["invalid_input"] ?? {}
  return (
    <>
      <h2 id="problems">Problems</h2>
      {shared.length === 0 ? null : (
        <p class="type">
          Any request may get{" "}
          {shared.map(({ code }, index) => [index === 0 ? "" : ", ", <ProblemLink key={code} code={code} />])}.
        </p>
      )}
      <ul class="members">
        {own.map(({ status, code }) => (
          <li key={code}>
            <p>
              <ProblemLink code={code} /> <span class="type">{status}</span>
            </p>
            <p>
              <DocumentText text={textIn(examples[code] ?? {}, "summary")} />
            </p>
          </li>
        ))}
      </ul>
      <details>
        <summary>The body of a problem</summary>
        {schemaTree({ $ref: `#/components/schemas/${name}` }, "answer", tree)}
        <CodeBlock caption="Example" code={prettyJson(example["value"])} language="json" />
      </details>
    </>
  )
}

const ProblemLink = ({ code }: { readonly code: string }) => (
  <a href={`${ROUTES.docsErrors.path}#${code}`}>
    <code>{code}</code>
  </a>
)

/** The headers of all answers. */
const Headers = ({ operation, tree }: PartProps) => (
  <MemberSection
    id="headers"
    title="Headers of answers"
    direction="answer"
    tree={tree}
    members={operation.headers.map(({ statuses, ...header }) => ({
      ...header,
      presence: statuses.length === 0 ? "" : `with ${statuses.join(", ")}`,
    }))}
  />
)
