/** @jsxImportSource preact */

import { domainToUnicode } from "node:url"
import { capitalized } from "../../../../base/text.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { RECOMMENDATIONS } from "../../../../contract/policies.ts"
import type { StoredRequest } from "../../../../customers/request-log/request-rows.ts"
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

/** What came out: the problem, the categories of a batch, or the category of a check, in words. */
export function meaningOf({ code, category, reason, categoryCounts }: StoredRequest): string {
  if (code !== null) return problemLabel(code)
  if (category === null) return categoryCounts.map(([name, count]) => `${formatNumber(count)} ${name}`).join(", ")
  return DOUBTS.get(reason ?? "")?.label ?? categoryLabel(category)
}

/** The items of a batch by category, the most frequent first. Empty for what is no batch. */
export const batchShares = ({ categoryCounts }: StoredRequest): readonly Share[] =>
  categoryCounts
    .map(([name, count]) => ({ label: categoryLabel(name), count, tone: `of-${name}` }))
    .sort((one, other) => other.count - one.count)

/** The same as `meaningOf`, with a bar in place of the categories of a batch. */
export function resultOf(request: StoredRequest) {
  const [shares, meaning] = [batchShares(request), meaningOf(request)]
  return shares.length === 0 || request.code !== null ? meaning : <SplitBar label={meaning} shares={shares} />
}

/** The code of a problem in words: `Rate limited`. */
const problemLabel = (code: string): string => capitalized(code.replaceAll("_", " "))

/** A category in words. Another version may have written one that this one does not know. */
function categoryLabel(category: string): string {
  const known = CATEGORY_NAMES.find(name => name === category)
  return known === undefined ? category : CATEGORY_LABELS[known]
}

/** Reasons that say more than the category does, and what they mean. */
export const DOUBTS: ReadonlyMap<string, { readonly label: string; readonly meaning: string }> = new Map([
  ["likely_typo", { label: "Typo", meaning: "This is probably a misspelling of a well-known provider." }],
  ["lookalike_domain", { label: "Lookalike", meaning: "This domain imitates a well-known name." }],
])

/** What was recommended, or that the request was refused or failed. Nothing for what has several results. */
export function OutcomePill({ request: { recommendation, status } }: { readonly request: StoredRequest }) {
  const advice = RECOMMENDATIONS.find(name => name === recommendation)
  if (advice !== undefined) return <RecommendationBadge recommendation={advice} />
  if (status < 400) return null
  return <span class={`pill ${status < 500 ? "review" : "block"}`}>{status < 500 ? "Refused" : "Failed"}</span>
}
