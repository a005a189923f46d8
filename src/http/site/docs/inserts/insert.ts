import type { VNode } from "preact"
import { assert } from "../../../../base/errors.ts"
import type { ExplainDomainResult } from "../../../../check/explain-domain.ts"
import type { TierLimits } from "../../../../customers/quota/tier-limits.ts"
import type { Inventory } from "../../../../licences/inventory.ts"
import type { ListsOverview } from "../../public/lists-overview.tsx"
import type { DeployFiles, GuideFacts } from "../guide-facts.ts"

/** One part of the program: where it comes from (null: it is ours), and its licences and notices in full. */
export type LicensedPart = { readonly name: string; readonly origin: string | null; readonly texts: readonly string[] }

/** The files that deploy a server, and the paths of those for Grafana and Prometheus. */
export type OperatorFiles = {
  readonly deploy: DeployFiles
  readonly dashboardPath: string
  readonly alertsPath: string
}

/** The lists in use, and what was looked up in them; null: nothing. */
export type ListsFacts = { readonly overview: ListsOverview; readonly lookup: ExplainDomainResult | null }

/** Everything that the inserts of a page read. */
export type PageFacts = Pick<GuideFacts, "command" | "checkTimeoutMs" | "settings" | "examinations"> & {
  readonly tiers: readonly TierLimits[]
  readonly baseUrl: string
  readonly testDomain: string
  /** Whom the server names for security reports, as URIs. */
  readonly securityContacts: readonly string[]
  /** What the operator says about prices, in Markdown. Null: nothing. */
  readonly pricing: string | null
  /** The files that pages for operators show and offer; null: it is another page. */
  readonly operatorFiles: OperatorFiles | null
  /** What the program is made of; null: it is not the page of licences. */
  readonly inventory: Inventory | null
  /** The lists in use; null: it is not the page of lists. */
  readonly lists: ListsFacts | null
  /** The part whose licence texts the page shows; null: none. */
  readonly licensedPart: LicensedPart | null
}

/** Gives the Markdown that replaces `{{name argument}}`. */
export type Insert = (facts: PageFacts, argument: string) => string

/** A part of a page: Markdown, and the element that the page shows in its place where Markdown cannot say it. */
export type PageBlock = { readonly markdown: string; readonly html: VNode | null }

/** An insert that the page can draw in another way. It stands on a line of its own. */
export type BlockInsert = (facts: PageFacts, argument: string) => PageBlock

/** A fact that only some pages have. The page that uses the insert has it. */
export function factOf<T>(fact: T | null): T {
  assert(fact !== null, "the page has the facts of its inserts")
  return fact
}
