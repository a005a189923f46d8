import { LIMITS } from "./limits.ts"
import type { ProblemCode } from "./problems.ts"

type RouteSpec = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly description: string
  /** Who has access. */
  readonly access: "anybody" | "key or test address" | "secret key" | "leak reporter" | "account" | "admin"
  /** Part of the API, a page, the target of a page's form, or a hook: an endpoint for one program of others, in their format. */
  readonly kind: "api" | "page" | "form" | "hook"
  /** Its problems, besides `not_found`, `method_not_allowed` and, on pages for signed-in people, `overloaded`. */
  readonly problems: readonly ProblemCode[]
  /** The page that holds the form, unless its path is the beginning of the form's. */
  readonly page?: string
}

/** The problems of every endpoint that takes keys. */
const KEY_PROBLEMS = ["unauthorized", "invalid_key", "key_revoked", "terms_not_accepted", "forbidden_network", "rate_limited", "overloaded", "internal_error"] as const satisfies readonly ProblemCode[]

/** The problems of every form. */
const FORM_PROBLEMS = ["forbidden_origin", "payload_too_large", "invalid_input", "internal_error"] as const satisfies readonly ProblemCode[]

/** The further problems of the forms that take a whole list. */
const LIST_FORM_PROBLEMS = ["key_revoked", "terms_not_accepted", "rate_limited", "too_many_jobs"] as const satisfies readonly ProblemCode[]

/** The further problems of a request that takes an `Idempotency-Key`. */
const ONCE_PROBLEMS = ["idempotency_mismatch", "idempotency_in_progress"] as const satisfies readonly ProblemCode[]

/** The problems of the endpoints of own lists. */
const LIST_READING_PROBLEMS = [...KEY_PROBLEMS, "invalid_input"] as const satisfies readonly ProblemCode[]
const LIST_CHANGE_PROBLEMS = [...LIST_READING_PROBLEMS, "payload_too_large", "batch_too_large"] as const satisfies readonly ProblemCode[]

const ADDED = "They count from the next check on. An entry that cannot be read is `invalid` in the answer, and does not affect the others."
const REMOVED = "An entry that is not on the list is `absent` in the answer."

/** All routes of the server. Another path is `not_found`, another method `method_not_allowed`. */
export const ROUTES = {
  getCheck: { method: "GET", path: "/v1/check", description: "Checks one address, domain or website URL. In the query a `+` is a plus, and a space is `%20` (RFC 3986).", access: "key or test address", kind: "api", problems: [...KEY_PROBLEMS, "forbidden_origin", "invalid_input", "quota_exceeded"] },
  postCheck: {
    method: "POST",
    path: "/v1/check",
    description: "Checks one address, domain or website URL. The body keeps addresses out of URLs and logs.",
    access: "key or test address",
    kind: "api",
    problems: [...KEY_PROBLEMS, "forbidden_origin", "payload_too_large", "invalid_input", "quota_exceeded"],
  },
  postBatch: {
    method: "POST",
    path: "/v1/check/batch",
    description: `Checks up to ${LIMITS.batchItemsMax} addresses, domains and website URLs, each like POST /v1/check without \`deep\`.`,
    access: "secret key",
    kind: "api",
    problems: [...KEY_PROBLEMS, "payload_too_large", "invalid_input", "batch_too_large", "quota_exceeded"],
  },
  postFeedback: {
    method: "POST",
    path: "/v1/feedback",
    description: "Reports a wrong verdict and costs one unit. The server stores only the domain, never the address.",
    access: "secret key",
    kind: "api",
    problems: [...KEY_PROBLEMS, "payload_too_large", "invalid_input", ...ONCE_PROBLEMS, "quota_exceeded"],
  },
  getUsage: { method: "GET", path: "/v1/usage", description: "Shows your limits and your usage in the last 30 days.", access: "secret key", kind: "api", problems: [...KEY_PROBLEMS] },
  getRules: { method: "GET", path: "/v1/rules", description: "Shows the rules of your account.", access: "secret key", kind: "api", problems: [...KEY_PROBLEMS] },
  putRules: {
    method: "PUT",
    path: "/v1/rules",
    description: "Replaces the rules of your account. A rule overrides the policy of a request. Your block and allow lists override rules. If two such requests overlap, one of them wins as a whole.",
    access: "secret key",
    kind: "api",
    problems: [...KEY_PROBLEMS, "payload_too_large", "invalid_input"],
  },
  postJob: {
    method: "POST",
    path: "/v1/jobs",
    description: "Uploads a whole list: text, CSV, NDJSON, a JSON array or an .xlsx workbook, alone or in a gzip or zip file, as the body or as the file of a form. It is checked in the background, each row for one unit.",
    access: "secret key",
    kind: "api",
    problems: [...KEY_PROBLEMS, "payload_too_large", "unsupported_media_type", "invalid_input", ...ONCE_PROBLEMS, "too_many_jobs"],
  },
  getJobs: { method: "GET", path: "/v1/jobs", description: "Shows your jobs, the newest first.", access: "secret key", kind: "api", problems: [...KEY_PROBLEMS] },
  getJob: { method: "GET", path: "/v1/jobs/:id", description: "Shows how far a job is.", access: "secret key", kind: "api", problems: [...KEY_PROBLEMS, "not_found"] },
  getJobResults: {
    method: "GET",
    path: "/v1/jobs/:id/results",
    description: "Downloads the results of a job, all or those with some recommendations. A download that was interrupted resumes with `Range`.",
    access: "secret key",
    kind: "api",
    problems: [...KEY_PROBLEMS, "not_found", "invalid_input", "job_not_ready", "range_not_satisfiable"],
  },
  postCallbackSecret: { method: "POST", path: "/v1/callback-secret", description: "Creates or replaces the secret that signs your callbacks. The old one also signs for a day.", access: "secret key", kind: "api", problems: [...KEY_PROBLEMS] },
  deleteJob: { method: "DELETE", path: "/v1/jobs/:id", description: "Deletes a job, its list and its results at once. Rows that were already checked stay charged.", access: "secret key", kind: "api", problems: [...KEY_PROBLEMS, "not_found"] },
  getBlockList: { method: "GET", path: "/v1/block-list", description: "Shows your block list by pages, or the one entry that you ask for.", access: "secret key", kind: "api", problems: [...LIST_READING_PROBLEMS] },
  postBlockList: { method: "POST", path: "/v1/block-list", description: `Adds up to ${LIMITS.ownListRequestEntriesMax} entries to your block list. ${ADDED}`, access: "secret key", kind: "api", problems: [...LIST_CHANGE_PROBLEMS, ...ONCE_PROBLEMS, "own_lists_full"] },
  deleteBlockList: { method: "DELETE", path: "/v1/block-list", description: `Removes up to ${LIMITS.ownListRequestEntriesMax} entries from your block list. ${REMOVED}`, access: "secret key", kind: "api", problems: [...LIST_CHANGE_PROBLEMS] },
  getAllowList: { method: "GET", path: "/v1/allow-list", description: "Shows your allow list by pages, or the one entry that you ask for.", access: "secret key", kind: "api", problems: [...LIST_READING_PROBLEMS] },
  postAllowList: { method: "POST", path: "/v1/allow-list", description: `Adds up to ${LIMITS.ownListRequestEntriesMax} entries to your allow list. ${ADDED}`, access: "secret key", kind: "api", problems: [...LIST_CHANGE_PROBLEMS, ...ONCE_PROBLEMS, "own_lists_full"] },
  deleteAllowList: { method: "DELETE", path: "/v1/allow-list", description: `Removes up to ${LIMITS.ownListRequestEntriesMax} entries from your allow list. ${REMOVED}`, access: "secret key", kind: "api", problems: [...LIST_CHANGE_PROBLEMS] },
  getHealth: { method: "GET", path: "/v1/health", description: "Shows the state of the server. It never waits for the network.", access: "anybody", kind: "api", problems: ["invalid_input", "internal_error"] },
  postSecretScanning: {
    method: "POST",
    path: "/hooks/secret-scanning",
    description: "Accepts signed reports of keys in public code and revokes the secret ones.",
    access: "leak reporter",
    kind: "hook",
    problems: ["unauthorized", "rate_limited", "overloaded", "payload_too_large", "invalid_input", "internal_error"],
  },
  mcp: {
    method: "POST",
    path: "/mcp",
    description: "Serves agents: the tools of the Model Context Protocol, over streamable HTTP.",
    access: "secret key",
    kind: "hook",
    problems: [...KEY_PROBLEMS, "forbidden_origin", "payload_too_large", "invalid_input"],
  },
  home: { method: "GET", path: "/", description: "Tells a company from a free mailbox, a disposable address or a typo, and says why.", access: "anybody", kind: "page", problems: [] },
  docs: { method: "GET", path: "/docs", description: "Every operation of the API: its request beside its answer, with all members, and why it refuses.", access: "anybody", kind: "page", problems: [] },
  docsApiOperation: { method: "GET", path: "/docs/api/:operation", description: "One operation of the API: its request, its answers and its problems.", access: "anybody", kind: "page", problems: [] },
  openapi: { method: "GET", path: "/docs/json", description: "The API's OpenAPI document.", access: "anybody", kind: "page", problems: [] },
  docsErrors: { method: "GET", path: "/docs/errors", description: "Every error code, its cause and what to do.", access: "anybody", kind: "page", problems: [] },
  docsFields: { method: "GET", path: "/docs/fields", description: "Every field of a verdict: what it means, when it is null, and what to do with it.", access: "anybody", kind: "page", problems: [] },
  docsReasons: { method: "GET", path: "/docs/reasons", description: "Every reason code, with an explanation and an example.", access: "anybody", kind: "page", problems: [] },
  docsTestAddresses: { method: "GET", path: "/docs/test-addresses", description: "Addresses for tests, with fixed verdicts. They need no key.", access: "anybody", kind: "page", problems: [] },
  docsLists: { method: "GET", path: "/docs/lists", description: "Look a domain up in the lists, and see where each list comes from.", access: "anybody", kind: "page", problems: [] },
  docsAsset: { method: "GET", path: "/docs/assets/:name", description: "A file that the pages load: stylesheet, icon, script.", access: "anybody", kind: "page", problems: [] },
  signIn: { method: "GET", path: "/sign-in", description: "Sign in with an email address.", access: "anybody", kind: "page", problems: [] },
  postSignOut: { method: "POST", path: "/sign-out", description: "Signs this browser out.", access: "anybody", kind: "form", problems: [...FORM_PROBLEMS] },
  account: { method: "GET", path: "/dashboard/account", description: "Your account, your active sessions and your emails.", access: "account", kind: "page", problems: ["internal_error"] },
  postMailSwitches: { method: "POST", path: "/dashboard/account/emails", description: "Switches emails on and off.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  postSessionEnd: { method: "POST", path: "/dashboard/account/sessions", description: "Signs one browser of the account out, or all others.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  postSignIn: { method: "POST", path: "/sign-in", description: "Sends a link and a code to an email address.", access: "anybody", kind: "form", problems: [...FORM_PROBLEMS, "rate_limited", "pass_required"] },
  signInCode: { method: "GET", path: "/sign-in/code", description: "Enter the code from the email.", access: "anybody", kind: "page", problems: ["internal_error"] },
  postSignInCode: { method: "POST", path: "/sign-in/code", description: "Signs in with the code from the email, in the browser that requested it.", access: "anybody", kind: "form", problems: [...FORM_PROBLEMS, "rate_limited"] },
  signInLink: { method: "GET", path: "/sign-in/link", description: "The target of the link in the email, with a button to sign in.", access: "anybody", kind: "page", problems: ["internal_error"] },
  postSignInLink: { method: "POST", path: "/sign-in/link", description: "Signs in with the link from the email, in any browser.", access: "anybody", kind: "form", problems: [...FORM_PROBLEMS, "rate_limited"] },
  invitation: { method: "GET", path: "/invitation", description: "The target of the link of an invitation, with a button to accept it.", access: "anybody", kind: "page", problems: ["internal_error"] },
  postInvitation: { method: "POST", path: "/invitation", description: "Accepts an invitation: creates the account and signs in.", access: "anybody", kind: "form", problems: [...FORM_PROBLEMS, "rate_limited"] },
  dashboard: { method: "GET", path: "/dashboard", description: "Your units, your usage and your limits.", access: "account", kind: "page", problems: ["internal_error"] },
  keys: { method: "GET", path: "/dashboard/keys", description: "Your keys.", access: "account", kind: "page", problems: ["internal_error"] },
  newKey: { method: "GET", path: "/dashboard/keys/new", description: "The form for a new key.", access: "account", kind: "page", problems: ["internal_error"] },
  postKey: { method: "POST", path: "/dashboard/keys/new", description: "Creates a key and shows it once.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  dashboardKey: { method: "GET", path: "/dashboard/keys/:id", description: "One of your keys, with its name, limits and expiry.", access: "account", kind: "page", problems: ["internal_error"] },
  postKeySettings: { method: "POST", path: "/dashboard/keys/:id/settings", description: "Changes the name, websites and limits of a key.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  postKeyRevoke: { method: "POST", path: "/dashboard/keys/:id/revoke", description: "Revokes a key.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  usage: { method: "GET", path: "/dashboard/usage", description: "Redirects to the overview.", access: "account", kind: "page", problems: ["internal_error"] },
  usageFile: { method: "GET", path: "/dashboard/usage/export.csv", description: "Your usage by day and key, as a CSV file.", access: "account", kind: "page", problems: ["internal_error"] },
  requests: { method: "GET", path: "/dashboard/requests", description: "The last requests of your account, by key, status, category, domain and time.", access: "account", kind: "page", problems: ["internal_error"] },
  postRequestLog: { method: "POST", path: "/dashboard/requests", description: "Switches the request log of your account on, or off, which deletes it.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  requestLogFile: { method: "GET", path: "/dashboard/requests/export", description: "The same requests as a CSV file.", access: "account", kind: "page", problems: ["internal_error"] },
  loggedRequest: { method: "GET", path: "/dashboard/requests/:id", description: "One of your last requests: its verdict, its cost, and why it was refused.", access: "account", kind: "page", problems: ["internal_error"] },
  tryIt: { method: "GET", path: "/dashboard/try", description: "A form that checks an address, a domain or a website.", access: "account", kind: "page", problems: ["internal_error"] },
  postTryIt: {
    method: "POST",
    path: "/dashboard/try",
    description: "Checks the input and uses your units.",
    access: "account",
    kind: "form",
    problems: [...FORM_PROBLEMS, "terms_not_accepted", "rate_limited", "quota_exceeded"],
  },
  ownLists: { method: "GET", path: "/dashboard/lists", description: "Your block and allow lists.", access: "account", kind: "page", problems: ["internal_error"] },
  ownListFile: { method: "GET", path: "/dashboard/lists/:list", description: "One of your lists as a text file: block.txt or allow.txt.", access: "account", kind: "page", problems: ["internal_error"] },
  ownListTable: { method: "GET", path: "/dashboard/list-entries/export.csv", description: "One of your lists as a CSV file, with notes.", access: "account", kind: "page", problems: ["internal_error"] },
  postListEntries: { method: "POST", path: "/dashboard/list-entries", description: "Adds pasted entries to one of your lists, or removes them.", access: "account", kind: "form", problems: [...FORM_PROBLEMS], page: "/dashboard/lists" },
  postListImport: { method: "POST", path: "/dashboard/list-entries/import", description: "Adds the entries of a file to one of your lists.", access: "account", kind: "form", problems: [...FORM_PROBLEMS], page: "/dashboard/lists" },
  rules: { method: "GET", path: "/dashboard/rules", description: "Your rules: what you recommend instead of the policy.", access: "account", kind: "page", problems: ["internal_error"] },
  postRules: { method: "POST", path: "/dashboard/rules", description: "Replaces your rules.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  dashboardJobs: { method: "GET", path: "/dashboard/jobs", description: "Your uploaded lists, and a form that uploads one.", access: "account", kind: "page", problems: ["internal_error"] },
  postDashboardJob: { method: "POST", path: "/dashboard/jobs", description: "Uploads a whole list, whose rows are checked in the background.", access: "account", kind: "form", problems: [...FORM_PROBLEMS, ...LIST_FORM_PROBLEMS] },
  postJobEstimate: { method: "POST", path: "/dashboard/job-estimate", description: "Shows what a whole list would cost. Nothing of it is stored.", access: "account", kind: "form", problems: [...FORM_PROBLEMS, ...LIST_FORM_PROBLEMS], page: "/dashboard/jobs" },
  dashboardJob: { method: "GET", path: "/dashboard/jobs/:id", description: "One of your uploaded lists: how far its check is, and its results.", access: "account", kind: "page", problems: ["internal_error"] },
  jobProgress: { method: "GET", path: "/dashboard/jobs/:id/progress", description: "How far the check of a list is, as server-sent events.", access: "account", kind: "page", problems: ["internal_error"] },
  jobResultsFile: { method: "GET", path: "/dashboard/jobs/:id/results", description: "The results of a list, as a file.", access: "account", kind: "page", problems: ["job_not_ready", "internal_error"] },
  postCallbackAgain: { method: "POST", path: "/dashboard/jobs/:id/send-again", description: "Sends a callback of a list once more.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  postDashboardCallbackSecret: { method: "POST", path: "/dashboard/callback-secret", description: "Makes or replaces the secret that signs your callbacks, and shows it.", access: "account", kind: "form", problems: [...FORM_PROBLEMS], page: "/dashboard/jobs" },
  jobDeletion: { method: "GET", path: "/dashboard/jobs/:id/delete", description: "Asks for confirmation before a list is deleted.", access: "account", kind: "page", problems: ["internal_error"] },
  postJobDeletion: { method: "POST", path: "/dashboard/jobs/:id/delete", description: "Deletes a list with its results.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  feedback: { method: "GET", path: "/dashboard/feedback", description: "Your reports of wrong verdicts, and their results.", access: "account", kind: "page", problems: ["internal_error"] },
  postFeedbackForm: { method: "POST", path: "/dashboard/feedback", description: "Reports a wrong verdict and costs one unit.", access: "account", kind: "form", problems: [...FORM_PROBLEMS, "terms_not_accepted", "rate_limited", "quota_exceeded"] },
  postTermsAcceptance: { method: "POST", path: "/dashboard/account/terms", description: "Accepts the current terms for your account.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  accountExport: { method: "GET", path: "/dashboard/account/export", description: "Everything that is stored about your account, as a JSON file.", access: "account", kind: "page", problems: ["internal_error"] },
  postAccountDeletion: { method: "POST", path: "/dashboard/account/delete", description: "Deletes your account.", access: "account", kind: "form", problems: [...FORM_PROBLEMS] },
  postHome: {
    method: "POST",
    path: "/",
    description: "Checks the input of the form on the home page, without a key.",
    access: "anybody",
    kind: "form",
    problems: [...FORM_PROBLEMS, "banned", "rate_limited", "pass_required", "busy"],
  },
  getPassChallenge: {
    method: "GET",
    path: "/pass/challenge",
    description: "A puzzle for the visitor's browser. Its solution gives a pass.",
    access: "anybody",
    kind: "page",
    problems: ["forbidden_origin", "banned", "rate_limited", "internal_error"],
  },
  admin: { method: "GET", path: "/admin", description: "What needs attention, the traffic, and the state of the server.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminAccounts: { method: "GET", path: "/admin/accounts", description: "All accounts. Search them by email, domain or key.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminAccount: { method: "POST", path: "/admin/accounts", description: "Creates an account.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  postAdminInvitation: { method: "POST", path: "/admin/invitations", description: "Invites an address to an account, and emails or shows the link.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS], page: "/admin/accounts" },
  postAdminInvitationRevocation: { method: "POST", path: "/admin/invitations/:id/revoke", description: "Revokes an invitation.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS], page: "/admin/accounts" },
  adminAccount: { method: "GET", path: "/admin/accounts/:id", description: "One account: its state, tier, keys, usage today and notes.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminTier: { method: "POST", path: "/admin/accounts/:id/tier", description: "Sets the tier of an account.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  postAdminSuspension: { method: "POST", path: "/admin/accounts/:id/suspend", description: "Suspends an account: all of its keys are refused.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  postAdminResumption: { method: "POST", path: "/admin/accounts/:id/resume", description: "Resumes a suspended account.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  postAdminNote: { method: "POST", path: "/admin/accounts/:id/note", description: "Changes the operator's note about an account.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  adminAccountDeletion: { method: "GET", path: "/admin/accounts/:id/delete", description: "Asks for confirmation before an account is deleted.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminAccountDeletion: { method: "POST", path: "/admin/accounts/:id/delete", description: "Deletes an account with all of its data.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  adminSources: { method: "GET", path: "/admin/sources", description: "The sources of the lists and the health of each.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminLists: { method: "GET", path: "/admin/lists", description: "The block and allow lists of the operator.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminListFile: { method: "GET", path: "/admin/lists/:list", description: "One of the operator's lists as a text file: block.txt or allow.txt.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminListTable: { method: "GET", path: "/admin/list-entries/export.csv", description: "One of the operator's lists as a CSV file, with notes.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminListEntries: { method: "POST", path: "/admin/list-entries", description: "Adds pasted entries to one of the operator's lists, or removes them.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS], page: "/admin/lists" },
  postAdminListImport: { method: "POST", path: "/admin/list-entries/import", description: "Adds the entries of a file to one of the operator's lists.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS], page: "/admin/lists" },
  adminActs: { method: "GET", path: "/admin/acts", description: "What administrators did, and when.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminKeyRevocation: { method: "GET", path: "/admin/keys/:id/revoke", description: "Asks for confirmation before a key is revoked.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminKeyRevocation: { method: "POST", path: "/admin/keys/:id/revoke", description: "Revokes a key and sends its owner an email.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  adminFeedback: { method: "GET", path: "/admin/feedback", description: "Reports of wrong verdicts, undecided ones first.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminReport: { method: "GET", path: "/admin/feedback/:id", description: "One report, with the evidence for its domain.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminAccept: { method: "POST", path: "/admin/feedback/:id/accept", description: "Accepts a report and corrects its domain.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  postAdminReject: { method: "POST", path: "/admin/feedback/:id/reject", description: "Rejects a report and removes its correction.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  adminTerms: { method: "GET", path: "/admin/terms", description: "The published terms, and a form for new ones.", access: "admin", kind: "page", problems: ["internal_error"] },
  adminTermsPreview: { method: "GET", path: "/admin/terms/preview", description: "A preview of new terms and of who gets an email.", access: "admin", kind: "page", problems: ["invalid_input", "internal_error"] },
  postAdminTerms: { method: "POST", path: "/admin/terms", description: "Publishes terms.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  adminTermsWithdrawal: { method: "GET", path: "/admin/terms/withdraw", description: "Asks for confirmation before the current terms are withdrawn.", access: "admin", kind: "page", problems: ["internal_error"] },
  postAdminTermsWithdrawal: { method: "POST", path: "/admin/terms/withdraw", description: "Withdraws the current terms, which accounts still have time to accept.", access: "admin", kind: "form", problems: [...FORM_PROBLEMS] },
  docsGuide: { method: "GET", path: "/docs/guide", description: "Every page of the documentation, in reading order.", access: "anybody", kind: "page", problems: [] },
  docsStart: { method: "GET", path: "/docs/start", description: "Your first check, and programs in curl, JavaScript, Python, PHP and Go.", access: "anybody", kind: "page", problems: [] },
  docsKeys: { method: "GET", path: "/docs/keys", description: "The two kinds of keys, and how to store, limit and replace them.", access: "anybody", kind: "page", problems: [] },
  docsSignUpForms: { method: "GET", path: "/docs/sign-up-forms", description: "A publishable key in your page, the decision on your server, and one account for one person.", access: "anybody", kind: "page", problems: [] },
  docsFormScript: { method: "GET", path: "/docs/form-script", description: "One line in your page: hints beside its email fields.", access: "anybody", kind: "page", problems: [] },
  docsClients: { method: "GET", path: "/docs/clients", description: "Clients for TypeScript and Python: install one, and make your first call.", access: "anybody", kind: "page", problems: [] },
  docsAdapters: { method: "GET", path: "/docs/adapters", description: "A few lines for better-auth, Supabase, Hono, Elysia, Express, Fastify and Next.", access: "anybody", kind: "page", problems: [] },
  docsAgents: { method: "GET", path: "/docs/agents", description: "Let an agent check addresses, over HTTP or on your own machine.", access: "anybody", kind: "page", problems: [] },
  docsPolicies: { method: "GET", path: "/docs/policies", description: "The recommendation for each category, and what makes it more severe.", access: "anybody", kind: "page", problems: [] },
  docsDegraded: { method: "GET", path: "/docs/degraded", description: "What you get when DNS fails, and what to do about each answer.", access: "anybody", kind: "page", problems: [] },
  docsLimits: { method: "GET", path: "/docs/limits", description: "Requests per second, units per day, sizes, and the headers that show what is left.", access: "anybody", kind: "page", problems: [] },
  docsSecurity: { method: "GET", path: "/docs/security", description: "How the server protects itself, and how to report a vulnerability.", access: "anybody", kind: "page", problems: [] },
  docsPrivacy: { method: "GET", path: "/docs/privacy", description: "What is stored, what is not, and what leaves the server.", access: "anybody", kind: "page", problems: [] },
  docsSelfHosting: { method: "GET", path: "/docs/self-hosting", description: "Run your own server: start it, let people in, and put it behind a proxy.", access: "anybody", kind: "page", problems: [] },
  docsPlatforms: { method: "GET", path: "/docs/platforms", description: "From nothing to a first verdict on each platform.", access: "anybody", kind: "page", problems: [] },
  docsOperation: { method: "GET", path: "/docs/operation", description: "Metrics, load and memory of a running server, systemd and containers.", access: "anybody", kind: "page", problems: [] },
  docsAlerts: { method: "GET", path: "/docs/alerts", description: "Rules for Prometheus that tell of each fault, and what to do then.", access: "anybody", kind: "page", problems: [] },
  docsRefreshes: { method: "GET", path: "/docs/refreshes", description: "When the lists are refreshed, what a refresh refuses, and sources of your own.", access: "anybody", kind: "page", problems: [] },
  docsLog: { method: "GET", path: "/docs/log", description: "How to read the log, and how to find a request in it.", access: "anybody", kind: "page", problems: [] },
  docsLogEvents: { method: "GET", path: "/docs/log-events", description: "Every event of the log, its level, its fields and its meaning.", access: "anybody", kind: "page", problems: [] },
  docsUpgrades: { method: "GET", path: "/docs/upgrades", description: "New versions, backups, and how to go back.", access: "anybody", kind: "page", problems: [] },
  docsPointInTime: { method: "GET", path: "/docs/point-in-time", description: "Restore SQLite as it was at any moment, with Litestream and a folder or an S3 bucket.", access: "anybody", kind: "page", problems: [] },
  docsScaling: { method: "GET", path: "/docs/scaling", description: "Move to PostgreSQL, and run several nodes behind a load balancer.", access: "anybody", kind: "page", problems: [] },
  docsLicences: { method: "GET", path: "/docs/licences", description: "The packages and data in this program, and their licences.", access: "anybody", kind: "page", problems: [] },
  docsWholeLists: { method: "GET", path: "/docs/whole-lists", description: "Upload a list of any kind, watch its check, download the results, and verify the callback.", access: "anybody", kind: "page", problems: [] },
  docsFiles: { method: "GET", path: "/docs/files", description: "Check or clean a text, CSV or NDJSON file of any size with one command.", access: "anybody", kind: "page", problems: [] },
  docsNetwork: { method: "GET", path: "/docs/network", description: "Which servers a check asks, and what happens if they do not answer.", access: "anybody", kind: "page", problems: [] },
  docsLeakedKeys: { method: "GET", path: "/docs/leaked-keys", description: "How the server revokes secret keys that were published in code.", access: "anybody", kind: "page", problems: [] },
  docsCommands: { method: "GET", path: "/docs/commands", description: "Every command, with exit codes and worker processes.", access: "anybody", kind: "page", problems: [] },
  docsInProcess: { method: "GET", path: "/docs/in-process", description: "Check addresses inside your own program on Node.js or Bun, without a server.", access: "anybody", kind: "page", problems: [] },
  docsSettings: { method: "GET", path: "/docs/settings", description: "Every setting with its meaning and its default.", access: "anybody", kind: "page", problems: [] },
  docsMails: { method: "GET", path: "/docs/mails", description: "Which emails the server sends, and what happens when a mail server fails.", access: "anybody", kind: "page", problems: [] },
  docsSearch: { method: "GET", path: "/docs/search-index.json", description: "The sections of the guide, for the search in the browser.", access: "anybody", kind: "page", problems: [] },
  docsMarkdown: { method: "GET", path: "/docs/:page.md", description: "A page of the guide as Markdown.", access: "anybody", kind: "page", problems: [] },
  pythonClient: { method: "GET", path: "/docs/clients/mailkind.py", description: "The client for Python, in one file.", access: "anybody", kind: "page", problems: [] },
  pythonWheel: { method: "GET", path: "/docs/clients/:wheel.whl", description: "The client for Python as a wheel, which `pip install` takes.", access: "anybody", kind: "page", problems: [] },
  clientPackage: { method: "GET", path: "/docs/clients/mailkind-client.tgz", description: "The client for TypeScript as a package, which `npm install` takes.", access: "anybody", kind: "page", problems: [] },
  formScript: { method: "GET", path: "/form.js", description: "The script that gives hints in forms of other websites.", access: "anybody", kind: "page", problems: [] },
  formScriptVersion: { method: "GET", path: "/form/:version", description: "One version of that script, which never changes.", access: "anybody", kind: "page", problems: [] },
  favicon: { method: "GET", path: "/favicon.ico", description: "The mark, for browsers that ask for it at this path.", access: "anybody", kind: "page", problems: [] },
  robots: { method: "GET", path: "/robots.txt", description: "The pages that search engines skip.", access: "anybody", kind: "page", problems: [] },
  sitemap: { method: "GET", path: "/sitemap.xml", description: "The public pages, for search engines.", access: "anybody", kind: "page", problems: [] },
  securityTxt: { method: "GET", path: "/.well-known/security.txt", description: "Contacts for security reports (RFC 9116).", access: "anybody", kind: "page", problems: [] },
  llms: { method: "GET", path: "/llms.txt", description: "Index of the guide for language models (llmstxt.org).", access: "anybody", kind: "page", problems: [] },
  llmsFull: { method: "GET", path: "/llms-full.txt", description: "All pages of the guide as one Markdown text.", access: "anybody", kind: "page", problems: [] },
} as const satisfies Record<string, RouteSpec>

export type RouteId = keyof typeof ROUTES

/** The routes with their paths as patterns: `:name` matches one segment. */
const ROUTE_PATTERNS = Object.values<RouteSpec>(ROUTES).map(({ method, path, kind, access, page }) => ({
  method,
  isForm: kind === "form",
  page,
  isPage: kind === "page",
  needsSession: kind === "page" && (access === "account" || access === "admin"),
  pattern: new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+")}$`),
}))

/** Whether the path is a page that needs a session. */
export function isSignedInPage(path: string): boolean {
  return ROUTE_PATTERNS.some(({ needsSession, pattern }) => needsSession && pattern.test(path))
}

/** The value of `Allow` for a path: its methods, HEAD where there is GET, and OPTIONS. Null: no route has the path. */
export function allowedMethods(path: string): string | null {
  const methods: string[] = ROUTE_PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  if (methods.length === 0) return null
  if (methods.includes("GET")) methods.splice(methods.indexOf("GET") + 1, 0, "HEAD")
  return [...methods, "OPTIONS"].join(", ")
}

/** The first segments of the paths that only programs ask for: the API and the hooks. */
const PROGRAM_SEGMENTS: ReadonlySet<string> = new Set(
  Object.values<RouteSpec>(ROUTES)
    .filter(({ kind }) => kind === "api" || kind === "hook")
    .map(({ path }) => path.split("/")[1] ?? ""),
)

/** Whether the path is below one that only programs ask for, even if no route has it. */
export const isProgramPath = (path: string): boolean => PROGRAM_SEGMENTS.has(path.split("/", 2)[1] ?? "")

/** The path of the page that is meant by a path with slashes at its end. Null: it has none, or no page has the path without them. */
export function pagePathWithoutSlash(path: string): string | null {
  let end = path.length
  while (path[end - 1] === "/") end--
  if (end === 0 || end === path.length) return null
  const bare = path.slice(0, end)
  return ROUTE_PATTERNS.some(({ isPage, pattern }) => isPage && pattern.test(bare)) ? bare : null
}

/**
 * The path of the page that holds the form whose target is the path: after a refused form a reload asks for the target by GET. Null: no form
 * is sent there.
 */
export function pageOfForm(path: string): string | null {
  const form = ROUTE_PATTERNS.find(({ isForm, pattern }) => isForm && pattern.test(path))
  if (form === undefined || form.page !== undefined) return form?.page ?? null
  let page = path
  while (!ROUTE_PATTERNS.some(({ isPage, pattern }) => isPage && pattern.test(page))) page = page.slice(0, page.lastIndexOf("/")) || ROUTES.home.path
  return page
}

/** The version of the API. */
export const API_VERSION = "1.0.0"

/** The revision of the OpenAPI document. It counts up when the document says the same API in another form, or an addition to it. */
export const DOCUMENT_REVISION = 6
