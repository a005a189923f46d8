import { LIMITS } from "./limits.ts"
import type { ProblemCode } from "./problems.ts"

type RouteSpec = {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly says: string
  /** Who may ask: anybody, anybody for a test address and keys otherwise, who signs as the reporter of leaks, who is signed in, or the operator's own machines: for all others the path does not exist. */
  readonly asks: "anybody" | "key or test address" | "secret key" | "leak reporter" | "account" | "admin" | "operator"
  /** Part of the API, a page, what the form of a page sends, or a hook: what one program of others calls, in a form that is theirs. */
  readonly kind: "api" | "page" | "form" | "hook"
  /** What it may refuse beside `not_found` and `method_not_allowed`. */
  readonly problems: readonly ProblemCode[]
}

/** What every endpoint for keys may refuse. */
const KEYED = ["unauthorized", "invalid_key", "key_revoked", "terms_not_accepted", "rate_limited", "overloaded", "internal_error"] as const satisfies readonly ProblemCode[]

/** What every form of a page may refuse. */
const FORM = ["forbidden_origin", "payload_too_large", "invalid_input", "internal_error"] as const satisfies readonly ProblemCode[]

/** Every path of the server. A path that is not here is `not_found`; a method that is not here is `method_not_allowed`. */
export const ROUTES = {
  getCheck: { method: "GET", path: "/v1/check", says: "Checks one address, domain or website URL.", asks: "key or test address", kind: "api", problems: [...KEYED, "forbidden_origin", "invalid_input", "quota_exceeded"] },
  postCheck: {
    method: "POST",
    path: "/v1/check",
    says: "Checks one address, domain or website URL; the body keeps addresses out of URLs and logs.",
    asks: "key or test address",
    kind: "api",
    problems: [...KEYED, "forbidden_origin", "payload_too_large", "invalid_input", "quota_exceeded"],
  },
  postBatch: {
    method: "POST",
    path: "/v1/check/batch",
    says: `Checks up to ${LIMITS.batchItemsMax} addresses, domains and website URLs, each as POST /v1/check does without \`deep\`.`,
    asks: "secret key",
    kind: "api",
    problems: [...KEYED, "payload_too_large", "invalid_input", "batch_too_large", "quota_exceeded"],
  },
  postFeedback: {
    method: "POST",
    path: "/v1/feedback",
    says: "Reports a wrong verdict. The address itself is not kept, only its domain.",
    asks: "secret key",
    kind: "api",
    problems: [...KEYED, "payload_too_large", "invalid_input"],
  },
  getUsage: { method: "GET", path: "/v1/usage", says: "Tells what the account may do, and what it did in the last 30 days.", asks: "secret key", kind: "api", problems: [...KEYED] },
  getHealth: { method: "GET", path: "/v1/health", says: "Tells whether the server is well; it never waits on the network.", asks: "anybody", kind: "api", problems: ["internal_error"] },
  postSecretScanning: {
    method: "POST",
    path: "/hooks/secret-scanning",
    says: "Takes signed reports of keys that were found in public code, and revokes the secret ones.",
    asks: "leak reporter",
    kind: "hook",
    problems: ["unauthorized", "rate_limited", "overloaded", "payload_too_large", "invalid_input", "internal_error"],
  },
  metrics: { method: "GET", path: "/metrics", says: "What the server has counted, for Prometheus.", asks: "operator", kind: "hook", problems: ["internal_error"] },
  home: { method: "GET", path: "/", says: "What this server is, with links.", asks: "anybody", kind: "page", problems: [] },
  docs: { method: "GET", path: "/docs", says: "The API's documentation as a page.", asks: "anybody", kind: "page", problems: [] },
  openapi: { method: "GET", path: "/docs/json", says: "The API's OpenAPI document.", asks: "anybody", kind: "page", problems: [] },
  docsErrors: { method: "GET", path: "/docs/errors", says: "Every problem code, what causes it and whether to retry.", asks: "anybody", kind: "page", problems: [] },
  docsReasons: { method: "GET", path: "/docs/reasons", says: "Every reason code with a sentence and an example.", asks: "anybody", kind: "page", problems: [] },
  docsTestAddresses: { method: "GET", path: "/docs/test-addresses", says: "The keyless test addresses and their verdicts.", asks: "anybody", kind: "page", problems: [] },
  docsLists: { method: "GET", path: "/docs/lists", says: "The lists in use, their sources and licences, and which of them list a domain.", asks: "anybody", kind: "page", problems: [] },
  docsAsset: { method: "GET", path: "/docs/assets/:name", says: "A file that the pages load: stylesheet, icon, script.", asks: "anybody", kind: "page", problems: [] },
  signIn: { method: "GET", path: "/sign-in", says: "Where people sign in, or sign up, with their email address.", asks: "anybody", kind: "page", problems: [] },
  postSignOut: { method: "POST", path: "/sign-out", says: "Signs this browser out.", asks: "anybody", kind: "form", problems: [...FORM] },
  account: { method: "GET", path: "/dashboard/account", says: "Who you are, and the browsers that are signed in.", asks: "account", kind: "page", problems: ["internal_error"] },
  postSessionEnd: { method: "POST", path: "/dashboard/account/sessions", says: "Signs one browser of the account out, or all others.", asks: "account", kind: "form", problems: [...FORM] },
} as const satisfies Record<string, RouteSpec>

export type RouteId = keyof typeof ROUTES

/** The paths of the table as patterns: `:name` stands for one segment. */
const PATTERNS = Object.values(ROUTES).map(({ method, path, asks }) => ({
  method,
  isTold: asks !== "operator",
  label: `${method} ${path}`,
  pattern: new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+")}$`),
}))

/** What a request asks for, as the table has it: `GET /v1/health`; null when no route takes it. */
export function routeOf(method: string, path: string): string | null {
  return PATTERNS.find(row => row.method === method && row.pattern.test(path))?.label ?? null
}

/** The value of `Allow` for a path; null when no route has the path, or one that only the operator is told of. HEAD goes with GET, OPTIONS with every path. */
export function allowedMethods(path: string): string | null {
  const methods: string[] = PATTERNS.filter(({ isTold, pattern }) => isTold && pattern.test(path)).map(({ method }) => method)
  if (methods.length === 0) return null
  if (methods.includes("GET")) methods.splice(methods.indexOf("GET") + 1, 0, "HEAD")
  return [...methods, "OPTIONS"].join(", ")
}

/** Version of the published interface description. */
export const API_VERSION = "1.0.0"
