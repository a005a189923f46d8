import { countingSources } from "../../check/explain-domain.ts"
import { type CheckOutcome, fullResult } from "../../check/result/result.ts"
import { rulingOf } from "../../check/result/ruled-domain.ts"
import type { AccountRule, AccountRules } from "../../contract/account-rules.ts"
import { POLICY_DEFAULT } from "../../contract/policies.ts"
import type { CheckResult } from "../../contract/result-schema.ts"
import { ROUTES } from "../../contract/routes.ts"
import { domainSourceCount, type ListsOverview } from "./public/lists-overview.tsx"
import type { SiteContext } from "./site-context.ts"
import { curlRequest } from "./ui/format.ts"
import type { CheckedVerdict } from "./ui/verdict/verdict-card.tsx"
import type { ListCount } from "./ui/verdict/verdict-evidence.tsx"

type CheckedFor = {
  /** The rules of the account for which it was checked. */
  readonly rules?: AccountRules
  readonly isDeep?: boolean
}

/** The outcome of a check as pages display it. */
export function displayedVerdict(
  { isDnsOff, lists, baseUrl }: Pick<SiteContext, "isDnsOff" | "lists" | "baseUrl">,
  outcome: CheckOutcome,
  requestId: string,
  { rules, isDeep = false }: CheckedFor = {},
): CheckedVerdict {
  const result = fullResult(outcome, requestId)
  const isTest = result.reasons.includes("test_address")
  const json = requestBody(result, isDeep)
  return {
    result,
    imitates: outcome.judged.evidence.lookalikeOf,
    isDnsOff,
    rule: decidingRule(outcome, rules),
    lists: result.domain === null || isTest ? undefined : listCount(lists(), result.domain),
    curl:
      json &&
      curlRequest({
        ...{ method: "POST", url: `${baseUrl()}${ROUTES.postCheck.path}`, body: { json } },
        key: isTest ? null : "YOUR_SECRET_KEY",
      }),
  }
}

const decidingRule = ({ judged }: CheckOutcome, rules: AccountRules | undefined): AccountRule | undefined =>
  rules === undefined || judged.evidence.ruledAs === null ? undefined : (rulingOf(judged, rules)?.rule ?? undefined)

function listCount(overview: ListsOverview, domain: string): ListCount | undefined {
  const lookup = overview.lookUpDomain(domain)
  return lookup.kind === "no_domain" ? undefined : { named: countingSources(lookup), all: domainSourceCount(overview) }
}

/** The body of the request that is answered by a result. Undefined: the input was not even a domain. */
function requestBody({ email, url, domain, policy }: CheckResult, isDeep: boolean) {
  const subject = email === null ? (url === undefined ? { domain } : { url }) : { email }
  if (subject.domain === null) return undefined
  return { ...subject, ...(policy === POLICY_DEFAULT ? {} : { policy }), ...(isDeep ? { deep: true } : {}) }
}
