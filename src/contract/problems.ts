type ProblemSpec = {
  readonly status: number
  /** Short text of the status. */
  readonly title: string
  readonly cause: string
  /** What the caller does about it. */
  readonly action: string
}

/** All problems that a request can be refused with. Statuses, titles and causes are written only here. */
export const PROBLEMS = {
  invalid_input: { status: 400, title: "Bad Request", cause: "A field is missing, too long or of the wrong type, or the body is not JSON in UTF-8. `errors` names the field.", action: "Correct the field that `errors` names. The same request would fail again." },
  unauthorized: { status: 401, title: "Unauthorized", cause: "The request has no key, and the input is not a test address. A leak report gets this if it has no valid signature.", action: "Send your key as `Authorization: Bearer …`." },
  invalid_key: { status: 401, title: "Unauthorized", cause: "The key is mistyped, does not exist, or is of the wrong kind for this endpoint.", action: "Copy the key again, or use a secret key if the endpoint needs one." },
  key_revoked: { status: 401, title: "Unauthorized", cause: "The key was revoked or has expired, or its account is suspended. Its owner, an administrator or leak detection can revoke a key.", action: "Use another key." },
  forbidden_origin: {
    status: 403,
    title: "Forbidden",
    cause: "A publishable key came from an origin that it does not allow, or without an `Origin` header. A form of these pages gets this if another site sent it. It also gets this if people open another address than `MAILKIND_BASE_URL`.",
    action: "Add the origin of your page to the key, in the dashboard. For a form of these pages, set `MAILKIND_BASE_URL` to the address that people open.",
  },
  forbidden_network: { status: 403, title: "Forbidden", cause: "A secret key came from a network that its owner does not allow.", action: "Send it from a network that the key allows, or add the network to the key." },
  terms_not_accepted: { status: 403, title: "Forbidden", cause: "The account has not accepted the current terms in time.", action: "Accept the terms in the dashboard, then send it again." },
  rate_limited: { status: 429, title: "Too Many Requests", cause: "Too many requests per second, or too many at once.", action: "Wait `Retry-After` seconds plus up to one second at random, then send it again." },
  quota_exceeded: {
    status: 429,
    title: "Too Many Requests",
    cause: "The request needs more units than are left today. `needed` and `remaining` say how many. Or the account has sent all of its reports of wrong verdicts for today. Both limits reset at 00:00 UTC.",
    action: "Wait until 00:00 UTC, or send a request that needs at most `remaining`.",
  },
  batch_too_large: { status: 413, title: "Content Too Large", cause: "The batch has more than 100 items, or the change of a block or allow list more than 1,000 entries.", action: "Split it into smaller parts." },
  payload_too_large: { status: 413, title: "Content Too Large", cause: "The body is too large. `limit` has the most bytes that are allowed: 256 KiB for a batch, 1 MiB for entries of a block or allow list, 4 MiB for those of the dashboard, and 64 KiB elsewhere.", action: "Send less at once." },
  unsupported_media_type: { status: 415, title: "Unsupported Media Type", cause: "The server cannot read a list of this media type.", action: "Send the list as the detail says." },
  idempotency_mismatch: { status: 422, title: "Unprocessable Content", cause: "Another request was sent with this `Idempotency-Key` in the last 24 hours: with another body, other options or to another path.", action: "Send it with another `Idempotency-Key`." },
  idempotency_in_progress: { status: 409, title: "Conflict", cause: "The list of an upload with this `Idempotency-Key` is still arriving.", action: "Wait until the first upload has ended, or send it with another `Idempotency-Key`." },
  too_many_jobs: {
    status: 409,
    title: "Conflict",
    cause: "The account is at its limit of jobs, uploads or storage. The detail says which.",
    action: "Delete a job, or wait until another upload has ended.",
  },
  own_lists_full: { status: 409, title: "Conflict", cause: "The block and allow lists of the account would have more than 10,000 entries together. Nothing was added.", action: "Delete entries that you no longer need, or block whole domains instead of addresses." },
  job_not_ready: { status: 409, title: "Conflict", cause: "The job has no results to download yet.", action: "Ask again when the job is `done`, `stopped` or `failed`." },
  range_not_satisfiable: { status: 416, title: "Range Not Satisfiable", cause: "The results end before the requested range. `Content-Range` has their length in bytes.", action: "Ask for a range within the results." },
  not_found: { status: 404, title: "Not Found", cause: "The path does not exist, or the account has no job with this id.", action: "Correct the path or the id." },
  method_not_allowed: { status: 405, title: "Method Not Allowed", cause: "The path exists, but not with this method. The `Allow` header lists its methods.", action: "Use a method that the `Allow` header lists." },
  overloaded: { status: 503, title: "Service Unavailable", cause: "The server is overloaded, or its database is unavailable. You are within your own limits.", action: "Wait `Retry-After` seconds plus up to one second at random, then send it again. Double the wait after each try." },
  internal_error: { status: 500, title: "Internal Server Error", cause: "Something went wrong on the server.", action: "Send it again after a second, and double the wait after each try." },
  pass_required: {
    status: 403,
    title: "Forbidden",
    cause: "The free checks without a pass are used up, for your network or for all visitors. Signing in also needs a pass while demand is high. Requests with a key never get this.",
    action: "Get a pass. The page gets one when your browser solves a short puzzle.",
  },
  banned: { status: 403, title: "Forbidden", cause: "Your network sent too many requests to the free checker, or too many wrong ones, and is blocked there for a while. Requests with a key never get this.", action: "Wait `Retry-After` seconds, or use a key." },
  busy: { status: 503, title: "Service Unavailable", cause: "The free checks that all visitors share are used up for today. Requests with a key never get this.", action: "Come back after 00:00 UTC, or use a key." },
} as const satisfies Record<string, ProblemSpec>

export type ProblemCode = keyof typeof PROBLEMS

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[]

/** The problems of the free website checker. The API never sends them. */
export const CHECKER_CODES = ["pass_required", "banned", "busy"] as const satisfies readonly ProblemCode[]

type ApiProblemCode = Exclude<ProblemCode, (typeof CHECKER_CODES)[number]>

const isCheckerCode = (code: ProblemCode): boolean => CHECKER_CODES.some(own => own === code)

/** The problems of the API. */
export const API_PROBLEM_CODES = PROBLEM_CODES.filter((code): code is ApiProblemCode => !isCheckerCode(code))

/** When several problems apply, the first of this order is sent (DECISIONS 26). */
export const REFUSAL_ORDER = [
  { step: "path", codes: ["not_found"] },
  { step: "method", codes: ["method_not_allowed"] },
  { step: "key", codes: ["unauthorized", "invalid_key", "key_revoked"] },
  { step: "terms", codes: ["terms_not_accepted"] },
  { step: "kind of key for the endpoint", codes: ["invalid_key"] },
  // Where a publishable key may be used from is its origins, and for a secret key its networks.
  { step: "origin", codes: ["forbidden_origin", "forbidden_network"] },
  { step: "requests per second, in flight", codes: ["rate_limited"] },
  // After the caller's own limits, so that a caller within its limits is not refused because of one that exceeds them. Nothing was read yet.
  { step: "load of the server", codes: ["overloaded"] },
  { step: "size of the body", codes: ["payload_too_large"] },
  // What a job's own state and number forbid is told after its parameters are read.
  { step: "media type, JSON, input", codes: ["unsupported_media_type", "invalid_input", "batch_too_large", "idempotency_mismatch", "idempotency_in_progress", "too_many_jobs", "own_lists_full", "job_not_ready", "range_not_satisfiable"] },
  { step: "units per day", codes: ["quota_exceeded"] },
  { step: "failure of the server", codes: ["internal_error"] },
] as const satisfies readonly { readonly step: string; readonly codes: readonly ProblemCode[] }[]

/** The same for the form of the free website checker. */
export const CHECKER_REFUSAL_ORDER = [
  { step: "path", codes: ["not_found"] },
  { step: "method", codes: ["method_not_allowed"] },
  { step: "origin", codes: ["forbidden_origin"] },
  { step: "ban of the network", codes: ["banned"] },
  { step: "requests per second", codes: ["rate_limited"] },
  { step: "size of the form", codes: ["payload_too_large"] },
  { step: "input", codes: ["invalid_input"] },
  { step: "pass", codes: ["pass_required"] },
  { step: "free checks per day", codes: ["busy"] },
  { step: "failure of the server", codes: ["internal_error"] },
] as const satisfies readonly { readonly step: string; readonly codes: readonly ProblemCode[] }[]
