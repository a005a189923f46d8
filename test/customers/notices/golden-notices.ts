import type { Notice, NoticeKind } from "../../../src/customers/notices/notices.ts"

const AT_MS = Date.UTC(2026, 0, 31, 23, 59, 58)

const KEY = { kind: "secret", name: "Billing <b>&amp;</b> “Ünï”", last4: "aB3d", atMs: AT_MS } as const

/** One notice of each kind, with what a name or an address may do to HTML. */
export const GOLDEN_NOTICES: { readonly [K in NoticeKind]: Extract<Notice, { kind: K }> } = {
  key_created: { kind: "key_created", params: { ...KEY, kind: "publishable" } },
  key_revoked_by_owner: { kind: "key_revoked_by_owner", params: KEY },
  key_revoked_by_admin: { kind: "key_revoked_by_admin", params: KEY },
  key_leaked: { kind: "key_leaked", params: KEY },
  key_expiring: { kind: "key_expiring", params: KEY },
  key_new_network: { kind: "key_new_network", params: KEY },
  account_suspended: {
    kind: "account_suspended",
    params: { atMs: AT_MS, reason: "Requests for <b>lists</b> of addresses & “more”" },
  },
  account_resumed: { kind: "account_resumed", params: { atMs: AT_MS } },
  terms_change: {
    kind: "terms_change",
    params: { version: "2026-01", url: 'https://example.com/terms?a=1&b="2"', endsAtMs: AT_MS },
  },
  units_80: { kind: "units_80", params: { used: 800, limit: 1000, day: 20_484 } },
  units_100: { kind: "units_100", params: { used: 250_000, limit: 250_000, day: 20_484 } },
  list_done: {
    kind: "list_done",
    params: { jobId: "job_4f", rows: { allow: 1588, review: 1748, block: 2664 }, deletedAtMs: AT_MS },
  },
  list_stopped: { kind: "list_stopped", params: { jobId: "job_4f", reason: "units_used_up" } },
  report_decided: {
    kind: "report_decided",
    params: { domain: "<b>acme</b>.example", reportedCategory: "business", isAccepted: true },
  },
  invitation: { kind: "invitation", params: { link: "https://mk.example.com/invitation?token=a" } },
  sign_in: {
    kind: "sign_in",
    params: { link: "https://mk.example.com/sign-in?token=a&b=c", code: "012345", minutes: 15 },
  },
}
