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
  /** What it may refuse beside `not_found`, `method_not_allowed` and, where people are signed in, `overloaded`. */
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
  home: { method: "GET", path: "/", says: "Tells what an email address, a domain or a website is: a business, a free mailbox, a throw-away one.", asks: "anybody", kind: "page", problems: [] },
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
  postSignIn: { method: "POST", path: "/sign-in", says: "Sends a link and a code to an email address.", asks: "anybody", kind: "form", problems: [...FORM, "rate_limited"] },
  signInCode: { method: "GET", path: "/sign-in/code", says: "Where the browser that asked to sign in takes the code from the mail.", asks: "anybody", kind: "page", problems: ["internal_error"] },
  postSignInCode: { method: "POST", path: "/sign-in/code", says: "Signs in by the code from the mail, in the browser that asked for it.", asks: "anybody", kind: "form", problems: [...FORM, "rate_limited"] },
  signInLink: { method: "GET", path: "/sign-in/link", says: "Where the link in the mail leads: it signs nobody in before its button is pressed.", asks: "anybody", kind: "page", problems: ["internal_error"] },
  postSignInLink: { method: "POST", path: "/sign-in/link", says: "Signs in by the link from the mail, in whatever browser it was opened.", asks: "anybody", kind: "form", problems: [...FORM, "rate_limited"] },
  dashboard: { method: "GET", path: "/dashboard", says: "Your keys, and a form for another one.", asks: "account", kind: "page", problems: ["internal_error"] },
  postKey: { method: "POST", path: "/dashboard/keys", says: "Creates a key, and shows it this once.", asks: "account", kind: "form", problems: [...FORM] },
  dashboardKey: { method: "GET", path: "/dashboard/keys/:id", says: "One of your keys: what it is, its name, and its end.", asks: "account", kind: "page", problems: ["internal_error"] },
  postKeyName: { method: "POST", path: "/dashboard/keys/:id/name", says: "Gives a key another name.", asks: "account", kind: "form", problems: [...FORM] },
  postKeyRevoke: { method: "POST", path: "/dashboard/keys/:id/revoke", says: "Revokes a key.", asks: "account", kind: "form", problems: [...FORM] },
  usage: { method: "GET", path: "/dashboard/usage", says: "What your account did in the last 30 days, and what it may do.", asks: "account", kind: "page", problems: ["internal_error"] },
  tryIt: { method: "GET", path: "/dashboard/try", says: "A box that checks an address, a domain or a website.", asks: "account", kind: "page", problems: ["internal_error"] },
  postTryIt: {
    method: "POST",
    path: "/dashboard/try",
    says: "Checks what stands in the box, at the cost of your units.",
    asks: "account",
    kind: "form",
    problems: [...FORM, "terms_not_accepted", "rate_limited", "quota_exceeded"],
  },
  ownLists: { method: "GET", path: "/dashboard/lists", says: "Your block and allow lists.", asks: "account", kind: "page", problems: ["internal_error"] },
  ownListFile: { method: "GET", path: "/dashboard/lists/:list", says: "One of your lists as a text file: block.txt or allow.txt.", asks: "account", kind: "page", problems: ["internal_error"] },
  postListEntries: { method: "POST", path: "/dashboard/list-entries", says: "Puts pasted entries on one of your lists, or takes them off it.", asks: "account", kind: "form", problems: [...FORM] },
  postListImport: { method: "POST", path: "/dashboard/list-entries/import", says: "Puts the entries of a file on one of your lists.", asks: "account", kind: "form", problems: [...FORM] },
  feedback: { method: "GET", path: "/dashboard/feedback", says: "Verdicts that you have reported as wrong, and what became of each report.", asks: "account", kind: "page", problems: ["internal_error"] },
  postFeedbackForm: { method: "POST", path: "/dashboard/feedback", says: "Reports a wrong verdict.", asks: "account", kind: "form", problems: [...FORM, "rate_limited"] },
  postTermsAcceptance: { method: "POST", path: "/dashboard/account/terms", says: "Accepts the current terms for your account.", asks: "account", kind: "form", problems: [...FORM] },
  accountExport: { method: "GET", path: "/dashboard/account/export", says: "Everything that is kept about your account, as a JSON file.", asks: "account", kind: "page", problems: ["internal_error"] },
  postAccountDeletion: { method: "POST", path: "/dashboard/account/delete", says: "Deletes your account.", asks: "account", kind: "form", problems: [...FORM] },
  postHome: {
    method: "POST",
    path: "/",
    says: "Checks what the form of the first page was filled in with, without a key.",
    asks: "anybody",
    kind: "form",
    problems: [...FORM, "banned", "rate_limited", "pass_required", "busy"],
  },
  getPassChallenge: {
    method: "GET",
    path: "/pass/challenge",
    says: "A piece of arithmetic for the visitor's browser, whose solution is worth a pass of the free checker.",
    asks: "anybody",
    kind: "page",
    problems: ["forbidden_origin", "banned", "rate_limited", "internal_error"],
  },
  admin: { method: "GET", path: "/admin", says: "How the server is, and what needs an administrator's eye.", asks: "admin", kind: "page", problems: ["internal_error"] },
  adminAccounts: { method: "GET", path: "/admin/accounts", says: "All accounts, found by the beginning of their email.", asks: "admin", kind: "page", problems: ["internal_error"] },
  postAdminAccount: { method: "POST", path: "/admin/accounts", says: "Creates an account.", asks: "admin", kind: "form", problems: [...FORM] },
  adminAccount: { method: "GET", path: "/admin/accounts/:id", says: "One account: its tier, its keys, what it did today.", asks: "admin", kind: "page", problems: ["internal_error"] },
  postAdminTier: { method: "POST", path: "/admin/accounts/:id/tier", says: "Sets the tier of an account.", asks: "admin", kind: "form", problems: [...FORM] },
  adminKeyRevocation: { method: "GET", path: "/admin/keys/:id/revoke", says: "Asks whether a key is to be revoked.", asks: "admin", kind: "page", problems: ["internal_error"] },
  postAdminKeyRevocation: { method: "POST", path: "/admin/keys/:id/revoke", says: "Revokes a key, and has its owner written to.", asks: "admin", kind: "form", problems: [...FORM] },
  adminFeedback: { method: "GET", path: "/admin/feedback", says: "Reports of wrong verdicts, those that wait for a decision first.", asks: "admin", kind: "page", problems: ["internal_error"] },
  adminReport: { method: "GET", path: "/admin/feedback/:id", says: "One report, with the evidence for its domain.", asks: "admin", kind: "page", problems: ["internal_error"] },
  postAdminAccept: { method: "POST", path: "/admin/feedback/:id/accept", says: "Accepts a report: its domain is corrected.", asks: "admin", kind: "form", problems: [...FORM] },
  postAdminReject: { method: "POST", path: "/admin/feedback/:id/reject", says: "Rejects a report: a correction that it made is taken back.", asks: "admin", kind: "form", problems: [...FORM] },
  adminTerms: { method: "GET", path: "/admin/terms", says: "The terms that were published, and where others are written down.", asks: "admin", kind: "page", problems: ["internal_error"] },
  adminTermsPreview: { method: "GET", path: "/admin/terms/preview", says: "What publishing terms would do, and who would be told.", asks: "admin", kind: "page", problems: ["invalid_input", "internal_error"] },
  postAdminTerms: { method: "POST", path: "/admin/terms", says: "Publishes terms.", asks: "admin", kind: "form", problems: [...FORM] },
  docsGuide: { method: "GET", path: "/docs/guide", says: "Every page of the documentation, in the order in which they are best read.", asks: "anybody", kind: "page", problems: [] },
  docsStart: { method: "GET", path: "/docs/start", says: "Check, batch, feedback and usage in curl, JavaScript, Python, PHP and Go.", asks: "anybody", kind: "page", problems: [] },
  docsKeys: { method: "GET", path: "/docs/keys", says: "The two kinds of keys, how to keep them, and how to exchange one without a gap.", asks: "anybody", kind: "page", problems: [] },
  docsSignUpForms: { method: "GET", path: "/docs/sign-up-forms", says: "A publishable key in your page, and the decision on your server.", asks: "anybody", kind: "page", problems: [] },
  docsPolicies: { method: "GET", path: "/docs/policies", says: "What is recommended for which category, and what raises it.", asks: "anybody", kind: "page", problems: [] },
  docsDegraded: { method: "GET", path: "/docs/degraded", says: "What is answered while DNS is away, and how your sign-up survives when nothing is.", asks: "anybody", kind: "page", problems: [] },
  docsLimits: { method: "GET", path: "/docs/limits", says: "Requests a second, units a day and sizes, and the headers that tell what is left.", asks: "anybody", kind: "page", problems: [] },
  docsPrivacy: { method: "GET", path: "/docs/privacy", says: "What is kept, what is not, and what leaves the server.", asks: "anybody", kind: "page", problems: [] },
  docsSelfHosting: { method: "GET", path: "/docs/self-hosting", says: "The executable, its settings, and how to run it behind a proxy, as a unit or in a container.", asks: "anybody", kind: "page", problems: [] },
  docsUpgrades: { method: "GET", path: "/docs/upgrades", says: "New versions, backups, and the way back.", asks: "anybody", kind: "page", problems: [] },
  docsScaling: { method: "GET", path: "/docs/scaling", says: "Many nodes over one PostgreSQL: when, how, what they share, and a balancer before them.", asks: "anybody", kind: "page", problems: [] },
  docsLicences: { method: "GET", path: "/docs/licences", says: "What this program is made of, and under which licences.", asks: "anybody", kind: "page", problems: [] },
} as const satisfies Record<string, RouteSpec>

export type RouteId = keyof typeof ROUTES

/** The paths of the table as patterns: `:name` stands for one segment. */
const PATTERNS = Object.values<RouteSpec>(ROUTES).map(({ method, path, kind, asks }) => ({
  method,
  isTold: asks !== "operator",
  isForSignedIn: kind === "page" && (asks === "account" || asks === "admin"),
  label: `${method} ${path}`,
  pattern: new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+")}$`),
}))

/** Whether the path is that of a page for people who are signed in. */
export function isSignedInPage(path: string): boolean {
  return PATTERNS.some(({ isForSignedIn, pattern }) => isForSignedIn && pattern.test(path))
}

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
