import { assert } from "../base/errors.ts"
import { type Log, type LogFields, withFields } from "../base/log.ts"
import type { CheckOutcome } from "../check/result/result.ts"
import type { Category } from "../contract/categories.ts"
import type { Recommendation } from "../contract/policies.ts"
import type { ProblemCode } from "../contract/problems.ts"
import type { RouteId } from "../contract/routes.ts"
import type { CallerCredentials } from "../customers/keys/key-cache.ts"
import type { RequestLease } from "./admission/request-lease.ts"
import type { CallerHeaders } from "./response/caller-headers.ts"

/** What a request did, besides its status and its time. */
export type RequestResult = {
  readonly units: number
  /** The check; null: none, or several. */
  readonly check: CheckOutcome | null
  /** The items of a batch by their category; null: the request is no batch. */
  readonly categoryCounts: ReadonlyMap<Category, number> | null
  /** The same by recommendation. Absent: the request is no batch. */
  readonly recommendationCounts?: ReadonlyMap<Recommendation, number>
}

/** A fault of the database that a request is refused for, and its cause. */
type RequestFault = { readonly fault: string; readonly why: string }

/** Who is signed in and looks at a page. */
export type Viewer = {
  readonly email: string
  /** Whether the operator named the email in `MAILKIND_ADMINS`. */
  readonly isAdmin: boolean
}

/** A request on its way to its response. Each stage fills in what later ones read; what is null is not known yet, or there is none. */
export class Exchange {
  readonly request: Request
  /** The id of request and response. */
  readonly id: string
  /** The route that serves the request; null: none does. */
  readonly route: RouteId | null
  /** The parameters in the path of the route. */
  readonly params: Readonly<Record<string, string>>
  /** Whether the load shedder counts the request, which must then be released. */
  isCounted = false
  /** Whose request it is, also when its key is refused. */
  caller: CallerCredentials | null = null
  /** The place and the units of an admitted caller; null for one without limits too. */
  lease: RequestLease | null = null
  /** The headers of a caller without a lease: one that is refused before it has one, or one without a key. */
  callerHeaders: CallerHeaders | null = null
  result: RequestResult | null = null
  /** The problem that the request was refused with. */
  refusal: ProblemCode | null = null
  /** Who is signed in. Only pages look. */
  viewer: Viewer | null = null
  /** The fault of the database that it was refused for. */
  fault: RequestFault | null = null

  constructor(
    request: Request,
    id: string,
    route: RouteId | null,
    params: Readonly<Record<string, string>> = NO_PARAMS,
  ) {
    this.request = request
    this.id = id
    this.route = route
    this.params = params
  }
}

const NO_PARAMS = {}

/** `traceparent` (W3C Trace Context §3.2): a version, the id of the trace, the id of the parent, flags, and what versions after 00 add. */
const TRACEPARENT =
  /^(?:00(?=.{53}$)|(?!00|ff)[\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/
/** How much of the header is read: a character more than version 00 has. */
const TRACEPARENT_CHARS_MAX = 56

/** The id of the trace to which the caller says that a request belongs; null: it names none, or its header breaks the rules. */
export function traceIdOf({ headers }: Request): string | null {
  const header = headers.get("traceparent")?.slice(0, TRACEPARENT_CHARS_MAX) ?? ""
  return TRACEPARENT.exec(header)?.[1] ?? null
}

/** The fields by which the lines of a request are found. */
export function requestFields({ id, request }: Pick<Exchange, "id" | "request">): LogFields {
  const traceId = traceIdOf(request)
  return { request_id: id, ...(traceId !== null && { trace_id: traceId }) }
}

/** The log of a request: each line names it. */
export const logOf = (log: Log, exchange: Pick<Exchange, "id" | "request">): Log =>
  withFields(log, requestFields(exchange))

/** The caller of a request that has passed the stage which identifies it. */
export function callerOf({ caller }: Exchange): CallerCredentials {
  assert(caller !== null, "a caller is identified before it is asked for")
  return caller
}
