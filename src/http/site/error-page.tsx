/** @jsxImportSource preact */
import { useContext } from "preact/hooks"
import { PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import { isProgramPath, ROUTES } from "../../contract/routes.ts"
import type { Exchange } from "../exchange.ts"
import { prefersHtml } from "../request/accept.ts"
import { pathOf } from "../request/request-url.ts"
import { Problem } from "../response/problem.ts"
import { NO_SUCH_PATH, type ToProblemResponse } from "../response/problem-response.ts"
import type { PageResponses } from "./page-responses.ts"
import { LinkButton } from "./ui/forms.tsx"
import { CalmLayout, Prose } from "./ui/layout.tsx"
import { Viewing } from "./ui/visitor.tsx"

/** Turns anything that a page handler threw into an error page. The details of an internal error are logged, never displayed. */
export type RenderErrorPage = (error: unknown, exchange: Exchange) => Response

/** Builds the renderer. Status, headers and logging are those of the API's problem responses. */
export function createErrorPageRenderer(pages: PageResponses, toProblemResponse: ToProblemResponse): RenderErrorPage {
  return (error, exchange) => {
    const { status, headers } = toProblemResponse(error, exchange)
    const problem = error instanceof Problem ? error : null
    const code = problem?.code ?? "internal_error"
    const kept = ["Allow", "Retry-After", "Connection"].flatMap(name => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    return pages.render(<ErrorPage code={code} detail={problem?.detail ?? null} />, exchange, {
      status,
      headers: Object.fromEntries(kept),
    })
  }
}

/**
 * Builds what refuses a request that no page handler has taken. A browser gets an error page, unless the path is one of the API;
 * everything else gets a problem.
 */
export function createRefusal(pages: PageResponses, toProblemResponse: ToProblemResponse): ToProblemResponse {
  const renderErrorPage = createErrorPageRenderer(pages, toProblemResponse)
  return (error, exchange) => {
    return isRefusedByPage(exchange) ? renderErrorPage(error, exchange) : toProblemResponse(error, exchange)
  }
}

/** Whether a request that no page handler takes is refused by an error page. */
export const isRefusedByPage = ({ request }: Exchange): boolean =>
  !isProgramPath(pathOf(request)) && prefersHtml(request.headers.get("accept"))

type ErrorPageProps = {
  readonly code: ProblemCode
  /** Null: the code's general cause is displayed. */
  readonly detail: string | null
}

function ErrorPage({ code, detail }: ErrorPageProps) {
  if (code === "not_found")
    return <NotFoundPage detail={detail === null || detail === NO_SUCH_PATH ? NO_PAGE : detail} />
  const { title, cause } = PROBLEMS[code]
  return (
    <CalmLayout route={null} title={title}>
      <p class="lead">
        <Prose text={detail ?? cause} />
      </p>
      <p class="actions">
        <StartButton />
        <LinkButton
          path={`${ROUTES.docsErrors.path}#${code}`}
          label={
            <>
              What <code>{code}</code> means
            </>
          }
          look="quiet"
        />
      </p>
    </CalmLayout>
  )
}

/** The first button: to the dashboard for a person who is signed in, otherwise to the home page. */
const StartButton = () =>
  useContext(Viewing) === null ? (
    <LinkButton path={ROUTES.home.path} label="Go to the home page" />
  ) : (
    <LinkButton path={ROUTES.dashboard.path} label="Go to the dashboard" />
  )

/** What guards say of a page that somebody may not see, so that both look the same. */
export const NO_PAGE = "There is no page at this URL."

/** What people see where nothing is, with the pages from which all others are reached. */
const NotFoundPage = ({ detail }: { readonly detail: string }) => (
  <CalmLayout route={null} title="Page not found">
    <p class="lead">
      <Prose text={detail} />
    </p>
    <p class="actions">
      <StartButton />
      <LinkButton path={ROUTES.docsGuide.path} label="Search the guide" look="quiet" />
      <LinkButton path={ROUTES.docs.path} label="API reference" look="quiet" />
    </p>
  </CalmLayout>
)
