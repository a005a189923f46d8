import { CATEGORIES } from "../contract/categories.ts"
import type { Policy } from "../contract/policies.ts"
import type { CheckResult } from "../contract/schemas.ts"
import type { AddressHints } from "./address/hints.ts"
import type { Evidence, Mail, Suites, Tenant } from "./verdict/evidence.ts"
import type { Verdict } from "./verdict/judge.ts"
import { isNewDomain, mailOf, tenantOf } from "./verdict/rules.ts"

/** What one check found, before anybody sees it. */
export type Outcome = {
  readonly policy: Policy
  readonly evidence: Evidence
  readonly verdict: Verdict
  /** Whole milliseconds from the question to the verdict. */
  readonly tookMs: number
}

/** What a secret key gets. Every flag is derived here; none is stored. */
export function fullResult(outcome: Outcome, requestId: string): CheckResult {
  const { evidence, verdict } = outcome
  const { subject, hints, listed } = evidence
  const mail = mailOf(evidence)
  const suites = evidence.suites.known ? evidence.suites.value : NO_SUITES
  const tenant = tenantOf(evidence)
  return {
    email: subject.kind === "email" ? subject.sent : null,
    ...(subject.kind === "url" ? { url: subject.sent } : {}),
    normalized_email: subject.normalized,
    domain: subject.domain,
    is_business: CATEGORIES[verdict.category].isBusiness,
    category: verdict.category,
    confidence: verdict.confidence,
    recommendation: verdict.recommendation,
    policy: outcome.policy,
    is_free_provider: listed.has("personal"),
    is_disposable: listed.has("disposable") || mail?.runBy === "disposable" || mail?.runBy === "learned_disposable",
    is_relay: listed.has("relay"),
    is_role_account: hints.isRole,
    shared_inbox: sharedInbox(hints),
    group: group(hints),
    is_blocked: evidence.blockedBy !== null,
    is_new_domain: isNewDomain(evidence),
    is_lookalike: evidence.imitated !== null,
    has_subaddress: subject.hasSubaddress,
    did_you_mean: evidence.suggestion,
    mail: mailBlock(mail),
    workspace: workspaceBlock(suites, tenant, evidence),
    integrations: { suite_a_ready: mail?.runBy === "suite_a", suite_b_ready: tenant !== null },
    domain_age_days: evidence.ageDays.known ? evidence.ageDays.value : null,
    reasons: [...verdict.reasons],
    degraded: verdict.isDegraded,
    cached: evidence.isCached,
    took_ms: outcome.tookMs,
    request_id: requestId,
  }
}

const NO_SUITES: Suites = { a: [], b: [], other: null }

/** Only the name is evidence, so the confidence is 0.3 at most; a group service's address is a group. */
const sharedInbox = (hints: AddressHints): CheckResult["shared_inbox"] =>
  hints.sharedInbox === null ? { confidence: 0, match: null } : { confidence: 0.3, match: hints.sharedInbox }

function group(hints: AddressHints): CheckResult["group"] {
  if (hints.groupService !== null) return { confidence: 1, match: hints.groupService }
  return hints.group === null ? { confidence: 0, match: null } : { confidence: 0.3, match: hints.group }
}

function mailBlock(mail: Mail | null): CheckResult["mail"] {
  if (mail === null) return { has_mx: null, provider: null, mx: [], spf: null, dmarc_policy: null }
  const mx = mail.mx.map(({ priority, host, provider }) => ({ priority, host, provider }))
  return { has_mx: mail.reach === "mx", provider: mail.provider, mx, spf: mail.spf, dmarc_policy: mail.dmarcPolicy }
}

function workspaceBlock(suites: Suites, tenant: Tenant | null, evidence: Evidence): CheckResult["workspace"] {
  return {
    suite_a: { detected: suites.a.length > 0, evidence: [...suites.a] },
    suite_b: {
      detected: suites.b.length > 0 || tenant !== null,
      tenant_id: tenant?.id ?? null,
      tenant_region: tenant?.region ?? null,
      auth: tenant?.auth ?? null,
      identity_provider: tenant?.identityProvider ?? null,
      evidence: [...suites.b],
    },
    other_suite: suites.other,
    pending: !evidence.tenant.known && evidence.tenant.cause === "pending",
  }
}
