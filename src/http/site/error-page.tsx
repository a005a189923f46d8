/** @jsxImportSource preact */
import { PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import { ROUTES } from "../../contract/routes.ts"
import { Problem } from "../response/problem.ts"
import type { ToProblemResponse } from "../response/problem-response.ts"
import type { PageResponses } from "./page-responses.ts"
import { Layout, Prose } from "./ui/layout.tsx"

/** Turns anything that a page handler threw into an error page. The details of an internal error are logged, never displayed. */
export type RenderErrorPage = (error: unknown, request: Request) => Response

/** Builds the renderer. Status, headers and logging are those of the API's problem responses. */
export function createErrorPageRenderer(pages: PageResponses, toProblemResponse: ToProblemResponse): RenderErrorPage {
  return (error, request) => {
    const { status, headers } = toProblemResponse(error, request)
    const problem = error instanceof Problem ? error : null
    const code = problem?.code ?? "internal_error"
    const kept = ["Retry-After", "Connection"].flatMap(name => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    return pages.render(<ErrorPage code={code} detail={problem?.detail ?? null} />, request, {
      status,
      headers: Object.fromEntries(kept),
    })
  }
}

type ErrorPageProps = {
  readonly code: ProblemCode
  /** Null: the code's general cause is displayed. */
  readonly detail: string | null
}

function ErrorPage({ code, detail }: ErrorPageProps) {
  const { title, cause } = PROBLEMS[code]
  return (
    <Layout route={null} title={title}>
      <p class="lead">
        <Prose text={detail ?? cause} />
      </p>
      <p>
        <a href={ROUTES.home.path}>Back to the first page</a> · what{" "}
        <a href={`${ROUTES.docsErrors.path}#${code}`}>
          <code>{code}</code>
        </a>{" "}
        means
      </p>
    </Layout>
  )
}
