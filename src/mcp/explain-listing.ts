import { type ExplainDomainResult, listingsOfLevel, sinceLabel } from "../check/explain-domain.ts"
import type { ToolResult } from "./tools.ts"

/** The output of `explain_listing`. */
export function listingResult(found: ExplainDomainResult): ToolResult {
  if (found.kind === "no_domain")
    return { kind: "problem", code: "invalid_input", detail: `This is not a domain. ${found.message}` }
  const { domain, category, reason, message, entry, levels } = found
  const listings = levels.flatMap(listingsOfLevel).map(listing => ({
    entry: listing.entry,
    list: listing.set,
    source: listing.source,
    since: sinceLabel(listing),
    counts: listing.dropReason === null,
    dropped_because: listing.dropReason,
  }))
  return { kind: "result", value: { domain, category, reason, message, entry, listings } }
}
