type ProblemSpec = {
  readonly status: number
  /** Short text of the status. */
  readonly title: string
  readonly cause: string
  readonly retry: string
}

/** All problems that a request can be refused with. Statuses, titles and causes are written only here. */
export const PROBLEMS = {
  invalid_input: { status: 400, title: "Bad Request", cause: "The input is missing, given more than once, of the wrong type, too long, holds control characters, names an unknown policy, is not UTF-8, or the body is not JSON.", retry: "No" },
  unauthorized: { status: 401, title: "Unauthorized", cause: "No key was sent and the input is not a test address, or a leak report is not signed by the reporter.", retry: "No" },
  invalid_key: { status: 401, title: "Unauthorized", cause: "The key is malformed, fails its checksum, does not exist, or is of the wrong kind for the endpoint.", retry: "No" },
  key_revoked: { status: 401, title: "Unauthorized", cause: "The key was revoked by its owner, an admin or leak detection, it has expired, or its account is suspended.", retry: "No, use another key" },
  forbidden_origin: { status: 403, title: "Forbidden", cause: "A publishable key was used from an origin that it does not allow, or without an `Origin` header; or a form of these pages was sent from elsewhere.", retry: "No" },
  forbidden_network: { status: 403, title: "Forbidden", cause: "A secret key was used from a client address that is in none of the networks that its owner allows.", retry: "No" },
  terms_not_accepted: { status: 403, title: "Forbidden", cause: "The account has not accepted the current terms and the grace period is over.", retry: "No" },
  rate_limited: { status: 429, title: "Too Many Requests", cause: "Too many requests a second or too many in flight.", retry: "Yes, after `Retry-After` seconds, with jitter" },
  quota_exceeded: {
    status: 429,
    title: "Too Many Requests",
    cause: "The request needs more units than are left of the day: `needed` and `remaining` say how many. Or the account has sent all the reports of wrong verdicts that it may send a day. All of them return at 00:00 UTC.",
    retry: "After 00:00 UTC; at once with a request that needs no more than `remaining`",
  },
  batch_too_large: { status: 413, title: "Content Too Large", cause: "The batch has more than 100 items.", retry: "No, split it into chunks of 100" },
  payload_too_large: { status: 413, title: "Content Too Large", cause: "The body is over the size limit: 256 KiB for a batch, 4 MiB for entries of a block or allow list, 64 KiB elsewhere.", retry: "No" },
  not_found: { status: 404, title: "Not Found", cause: "The path does not exist.", retry: "No" },
  method_not_allowed: { status: 405, title: "Method Not Allowed", cause: "The path exists, but not with this method; the `Allow` header lists the methods.", retry: "No" },
  overloaded: { status: 503, title: "Service Unavailable", cause: "The server as a whole has more to do than it can, or its database is unavailable for the moment; the caller is within its own limits.", retry: "Yes, after `Retry-After` seconds, with jitter and exponential back-off" },
  internal_error: { status: 500, title: "Internal Server Error", cause: "The server failed.", retry: "Yes, with exponential back-off" },
  pass_required: {
    status: 403,
    title: "Forbidden",
    cause: "The free website checker wants to see that no program asks: the checks that a network has without that are used up, or a part of the budget that all visitors share. So does the sign-in while very many people ask for a mail. Requests with a key never get this.",
    retry: "Yes, with a pass: the page gets one by a short piece of arithmetic in the browser",
  },
  banned: { status: 403, title: "Forbidden", cause: "The network has abused the free website checker and is kept from it for a while. Requests with a key never get this.", retry: "Yes, after `Retry-After` seconds" },
  busy: { status: 503, title: "Service Unavailable", cause: "The daily budget that all visitors of the free website checker share is used up. Requests with a key never get this.", retry: "After 00:00 UTC" },
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
  { step: "requests a second, in flight", codes: ["rate_limited"] },
  // After the caller's own limits, so that a caller within its limits is not refused because of one that exceeds them. Nothing was read yet.
  { step: "load of the server", codes: ["overloaded"] },
  { step: "size of the body", codes: ["payload_too_large"] },
  { step: "media type, JSON, input", codes: ["invalid_input", "batch_too_large"] },
  { step: "units of the day", codes: ["quota_exceeded"] },
  { step: "our own failure", codes: ["internal_error"] },
] as const satisfies readonly { readonly step: string; readonly codes: readonly ProblemCode[] }[]

/** The same for the form of the free website checker. */
export const CHECKER_REFUSAL_ORDER = [
  { step: "path", codes: ["not_found"] },
  { step: "method", codes: ["method_not_allowed"] },
  { step: "origin", codes: ["forbidden_origin"] },
  { step: "ban of the network", codes: ["banned"] },
  { step: "requests a second", codes: ["rate_limited"] },
  { step: "size of the form", codes: ["payload_too_large"] },
  { step: "input", codes: ["invalid_input"] },
  { step: "pass", codes: ["pass_required"] },
  { step: "budget of the day", codes: ["busy"] },
  { step: "our own failure", codes: ["internal_error"] },
] as const satisfies readonly { readonly step: string; readonly codes: readonly ProblemCode[] }[]
