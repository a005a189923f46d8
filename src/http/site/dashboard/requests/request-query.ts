import { domainToALabels } from "../../../../base/idna.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { RequestFilter, RequestPlace } from "../../../../customers/request-log/request-rows.ts"
import { queryParameters } from "../../../request/request-url.ts"
import { withQuery } from "../../links.ts"

/** The classes of statuses that can be filtered by. */
export const STATUS_CLASSES = {
  "2xx": { label: "2xx: answered", first: 2 },
  "4xx": { label: "4xx: refused", first: 4 },
  "5xx": { label: "5xx: server failed", first: 5 },
} as const satisfies Record<string, { readonly label: string; readonly first: number }>

/** The routes whose requests are logged, as the log names them: all that take keys, and the forms that cost units. */
export const LOGGED_ROUTES: readonly string[] = [
  ...Object.values(ROUTES).filter(({ access }) => access === "secret key" || access === "key or test address"),
  ...[ROUTES.postTryIt, ROUTES.postFeedbackForm],
].map(({ method, path }) => `${method} ${path}`)

type FilterField = "key" | "status" | "recommendation" | "category" | "route" | "domain" | "from" | "to"

/** The fields of the filter as they were typed. Empty: not filtered by. They are the parameters of the page's URL. */
export type RequestFilterValues = { readonly [F in FilterField]: string }

/** What a URL asks for. With errors, the faulty fields are left out of the filter. */
export type RequestQuery = {
  readonly values: RequestFilterValues
  readonly filter: RequestFilter
  /** Messages by field. */
  readonly errors: { readonly [F in FilterField]?: string }
  /** The last request of the previous page; null: the first page. */
  readonly before: RequestPlace | null
}

/** The longest field: a domain with dots and white space around it. */
const FIELD_LENGTH_MAX = LIMITS.addressBytesMax

/** Reads the query of a URL. */
export function parseRequestQuery(url: string): RequestQuery {
  const parameters = queryParameters(url)
  const field = (name: string): string => (parameters.get(name)?.trim() ?? "").slice(0, FIELD_LENGTH_MAX)
  const values: RequestFilterValues = {
    key: field("key"),
    status: Object.hasOwn(STATUS_CLASSES, field("status")) ? field("status") : "",
    recommendation: RECOMMENDATIONS.find(name => name === field("recommendation")) ?? "",
    category: CATEGORY_NAMES.some(name => name === field("category")) ? field("category") : "",
    route: LOGGED_ROUTES.includes(field("route")) ? field("route") : "",
    domain: domainText(field("domain")),
    from: field("from"),
    to: field("to"),
  }
  const [fromMs, toMs] = [parseUtcMinute(values.from), parseUtcMinute(values.to)]
  const isBackwards = fromMs !== null && toMs !== null && toMs <= fromMs
  return {
    values,
    errors: {
      ...(values.from !== "" && fromMs === null ? { from: NO_TIME } : {}),
      ...(values.to !== "" && toMs === null ? { to: NO_TIME } : {}),
      ...(isBackwards ? { to: "The end is not after the start." } : {}),
    },
    before: parseRequestPlace(field("after")),
    filter: {
      keyId: values.key || null,
      route: values.route || null,
      statusClass: Object.entries(STATUS_CLASSES).find(([name]) => name === values.status)?.[1].first ?? null,
      recommendation: values.recommendation || null,
      category: values.category || null,
      domainPart: domainPart(values.domain),
      hasOutcome: false,
      fromMs,
      toMs,
    },
  }
}

/** Of an address only the domain is asked for, and shown again. */
const domainText = (text: string): string => text.slice(text.lastIndexOf("@") + 1).trim()

/** A part of a domain as it is logged. A text that is no part of a name is searched for as it is, and matches nothing. */
function domainPart(text: string): string | null {
  if (text === "") return null
  const [dotBefore, dotAfter] = [text.startsWith(".") ? "." : "", text.length > 1 && text.endsWith(".") ? "." : ""]
  const name = text.replace(/^\.|\.$/g, "")
  const converted = /^[\x21-\x7e]*$/.test(name) ? name.toLowerCase() : domainToALabels(name)
  return `${dotBefore}${converted === "" ? name.toLowerCase() : converted}${dotAfter}`
}

const UTC_MINUTE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d{1,3})?)?Z?)?$/

/** The instant of a field for date and time, in UTC; null: it is empty, or no such instant. */
function parseUtcMinute(text: string): number | null {
  const [, day, minute = "00:00"] = UTC_MINUTE.exec(text) ?? []
  if (day === undefined) return null
  const atMs = Date.parse(`${day}T${minute}:00Z`)
  // 30 February would be read as a day of March.
  return Number.isNaN(atMs) || !new Date(atMs).toISOString().startsWith(`${day}T${minute}`) ? null : atMs
}

const NO_TIME = "Write a date and a time, such as 2026-01-31T12:00."

/** The id of a logged request in URLs: its place. */
export const requestIdOf = ({ atMs, seq }: RequestPlace): string => `${atMs}-${seq}`

const REQUEST_ID = /^(\d{1,15})-(\d{1,16})$/

/** The place that an id names; null: it is none. */
export function parseRequestPlace(id: string): RequestPlace | null {
  const [, atMs, seq] = REQUEST_ID.exec(id) ?? []
  const place = { atMs: Number(atMs), seq: Number(seq) }
  return Number.isSafeInteger(place.atMs) && Number.isSafeInteger(place.seq) ? place : null
}

/** The path of the page, or of another one, with the same filter. */
export const requestsPath = (
  values: RequestFilterValues,
  more: Readonly<Record<string, string>> = {},
  path: string = ROUTES.requests.path,
): string => withQuery(path, { ...values, ...more })

/** Whether nothing is filtered. */
export const isUnfiltered = (values: RequestFilterValues): boolean => Object.values(values).every(text => text === "")
