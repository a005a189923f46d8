/** @jsxImportSource preact */

import { domainToUnicode } from "node:url"
import { capitalized } from "../../../../base/text.ts"
import type { Evidence } from "../../../../check/verdict/evidence.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
import { freeCheckRequest } from "../../public/examples.ts"
import type { SiteContext } from "../../site-context.ts"
import { parseTyped } from "../../typed-subject.ts"
import { formatNumber } from "../../ui/format.ts"
import { RecommendationBadge } from "../../ui/layout.tsx"
import { type Share, SplitBar } from "../../ui/panels.tsx"
import { CATEGORY_LABELS } from "../../ui/verdict/verdict-words.ts"

/** What a request is about: its domain, or how many items its batch had, or else its route. */
export function subjectOf({ domain, category, recommendation, reason, categoryCounts, route }: StoredRequest): string {
  if (domain !== null) return displayedName(domain, recommendation === "allow", reason)
  const items = itemCount({ categoryCounts })
  if (items > 0) return `Batch of ${formatNumber(items)}`
  return category === null ? route : "Not an address"
}

/** How many items a batch had. 0: the request was none, or was refused. */
export const itemCount = ({ categoryCounts }: Pick<StoredRequest, "categoryCounts">): number =>
  categoryCounts.reduce((sum, [, count]) => sum + count, 0)

/** A name as people read it. The log does not say whether it imitates another: one that may do so stays in ASCII. */
function displayedName(domain: string, isAllowed: boolean, reason: string | null): string {
  const name = domainToUnicode(domain) || domain
  return isAllowed || (reason !== "lookalike_domain" && /^[\w.ß-öø-ÿ-]*$/.test(name)) ? name : domain
}

/** The known names that logged domains imitate or mistype, by the domain. */
export type MeantNames = ReadonlyMap<string, Pick<Evidence, "suggestion" | "lookalikeOf">>

/** Reads those names from the lists as they are now, since the log holds domains alone. */
export async function readMeantNames(
  { listsCheck, testDomain }: Pick<SiteContext, "listsCheck" | "testDomain">,
  requests: readonly StoredRequest[],
): Promise<MeantNames> {
  const domains = new Set(
    requests.flatMap(({ domain, recommendation }) => (recommendation === "allow" ? [] : (domain ?? []))),
  )
  const names = new Map<string, Evidence>()
  for (const domain of domains) {
    const typed = parseTyped(domain, testDomain)
    if (typed.kind === "refused") continue
    const { judged } = await listsCheck(freeCheckRequest(typed.subject, "request log"))
    names.set(domain, judged.evidence)
  }
  return names
}

/** What came out: the problem, the categories of a batch, or the category of a check, in words. */
export function meaningOf(
  { code, category, reason, domain, categoryCounts }: StoredRequest,
  names: MeantNames,
): string {
  if (code !== null) return problemLabel(code)
  if (category === null) return categoryCounts.map(([name, count]) => `${formatNumber(count)} ${name}`).join(", ")
  const meant = names.get(domain ?? "")
  if (reason === "likely_typo") return `Typo${meant?.suggestion ? ` of ${meant.suggestion}` : ""}`
  const imitated = meant?.lookalikeOf ?? null
  if (reason !== "lookalike_domain" && imitated === null) return labelOfCategory(category)
  return `Look-alike${imitated === null ? "" : ` of ${imitated}`}`
}

/** The items of a batch by category, the most frequent first. Empty for what is no batch. */
export const batchShares = ({ categoryCounts }: StoredRequest): readonly Share[] =>
  categoryCounts
    .map(([name, count]) => ({ label: labelOfCategory(name), count, tone: `of-${name}` }))
    .sort((one, other) => other.count - one.count)

/** The same as `meaningOf`, with a bar in place of the categories of a batch, or the count of the one that is looked for. */
export function resultOf(request: StoredRequest, names: MeantNames, sought = "") {
  const [shares, meaning] = [batchShares(request), meaningOf(request, names)]
  const found = request.categoryCounts.find(([name]) => name === sought)
  if (found !== undefined) return `${formatNumber(found[1])} ${sought} of ${formatNumber(itemCount(request))}`
  return shares.length > 0 && request.code === null ? <SplitBar label={meaning} shares={shares} /> : meaning
}

/** The code of a problem in words: `Rate limited`. */
const problemLabel = (code: string): string => capitalized(code.replaceAll("_", " "))

/** A category in words. Another version may have written one that this one does not know. */
export function labelOfCategory(category: string): string {
  const known = CATEGORY_NAMES.find(name => name === category)
  return known === undefined ? category : CATEGORY_LABELS[known]
}

/** What was recommended, or that the request was refused or failed. Nothing for what has several results. */
export function OutcomePill({ request: { recommendation, status } }: { readonly request: StoredRequest }) {
  const advice = RECOMMENDATIONS.find(name => name === recommendation)
  if (advice !== undefined) return <RecommendationBadge recommendation={advice} />
  if (status < 400) return null
  return <span class={`pill ${status < 500 ? "review" : "block"}`}>{status < 500 ? "Refused" : "Failed"}</span>
}
