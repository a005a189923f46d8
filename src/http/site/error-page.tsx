/** @jsxImportSource preact */
import { PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import { ROUTES } from "../../contract/routes.ts"
import { Problem } from "../response/problem.ts"
import type { ToProblemResponse } from "../response/problem-response.ts"
import type { PageResponses } from "./page-responses.ts"
import { Layout, Prose } from "./ui/layout.tsx"

/** Answers whatever was thrown while a page was made, with a page. What is our fault is logged, never shown. */
export type RenderErrorPage = (error: unknown, request: Request) => Response

/** Builds it over what refuses a request of the API, by which our own failures are logged too. */
export function createErrorPageRenderer(pages: PageResponses, refuse: ToProblemResponse): RenderErrorPage {
  return (error, request) => {
    const { status, headers } = refuse(error, request)
    const problem = error instanceof Problem ? error : null
    const code = problem?.code ?? "internal_error"
    const retryAfter = headers.get("retry-after")
    return pages.render(<ErrorPage code={code} detail={problem?.detail ?? null} />, request, {
      status,
      headers: retryAfter === null ? {} : { "Retry-After": retryAfter },
    })
  }
}

type ErrorPageProps = {
  readonly code: ProblemCode
  /** Null: nothing that would help is known. */
  readonly detail: string | null
}

/** What a person sees whose request is refused. */
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
