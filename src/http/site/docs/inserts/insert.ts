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
  /** Whether the server names a contact for security reports. */
  readonly hasSecurityContact: boolean
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

/** An insert that the page draws in another way than Markdown can say; null: as its Markdown. It stands on a line of its own. */
export type BlockInsert = (
  facts: PageFacts,
  argument: string,
) => {
  readonly markdown: string
  readonly html: VNode | null
}

/** A fact that only some pages have. The page that uses the insert has it. */
export function factOf<T>(fact: T | null): T {
  assert(fact !== null, "the page has the facts of its inserts")
  return fact
}
