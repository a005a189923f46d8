import { type TObject, type TSchema, Type as t } from "@sinclair/typebox"
import { RulesAnswer, RulesBody } from "../contract/account-rules-schema.ts"
import { CATEGORY_NAMES } from "../contract/categories.ts"
import { LIMITS } from "../contract/limits.ts"
import {
  OWN_LIST_FAULTS,
  OwnListAddition,
  OwnListEntriesBody,
  type OwnListFault,
  OwnListPage,
  OwnListQuery,
  OwnListRemoval,
  OwnListRemovalBody,
} from "../contract/own-lists-schema.ts"
import { POLICY_NAMES } from "../contract/policies.ts"
import { REASON_NAMES, REASONS } from "../contract/reasons.ts"
import { CheckResult } from "../contract/result-schema.ts"
import { BatchBody, BatchResult, CheckBody } from "../contract/schemas.ts"
import { Usage } from "../contract/usage-schema.ts"

/** How a tool ends: with a value of its output, or with a problem of the API. */
export type ToolResult =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "problem"; readonly code: string; readonly detail: string; readonly retryAfterS?: number }

/** What answers the tools. The arguments have the form of the tool's input. */
export type McpBackend = Readonly<Record<ToolName, (input: unknown) => Promise<ToolResult>>>

/** A tool as agents see it. */
export type ToolSpec = {
  readonly title: string
  readonly description: string
  readonly input: TObject
  readonly output: TObject
  /** Whether it asks DNS and other services about the domain. */
  readonly isOpenWorld: boolean
  /** What it changes; absent: nothing. */
  readonly change?: "adds" | "removes" | "replaces"
  /** A value of the output in a few lines, for a model. */
  readonly summary: (value: never) => string
}

/** An item of a batch without its evidence: a hundred whole results would fill the context of a model. */
const BatchItem = t.Pick(BatchResult.properties.results.items, [
  "index",
  "input",
  "email",
  "domain",
  "url",
  "is_business",
  "category",
  "confidence",
  "recommendation",
  "did_you_mean",
  "degraded",
  "reasons",
])
const BatchItems = t.Object({
  results: t.Array(BatchItem, { description: "One result for each item, in the same order." }),
})

/** What the lists say about a domain. */
const ListingExplanation = t.Object({
  domain: t.String({ description: "In A-labels." }),
  category: t.String({ enum: [...CATEGORY_NAMES], description: "The category by the lists alone." }),
  reason: t.String({ enum: [...REASON_NAMES] }),
  message: t.String({ description: "The reason as a sentence." }),
  entry: t.Union([t.String(), t.Null()], { description: "The entry that matches. Null: none." }),
  listings: t.Array(
    t.Object({
      entry: t.String(),
      list: t.String(),
      source: t.String(),
      since: t.String({ description: "The day since which it is listed, as text." }),
      counts: t.Boolean({ description: "Whether the entry is used." }),
      dropped_because: t.Union([t.String(), t.Null()]),
    }),
    { description: "Every source that lists the domain or a parent domain." },
  ),
})
type ListingExplanation = (typeof ListingExplanation)["static"]

const OwnListName = t.Union([t.Literal("block"), t.Literal("allow")], { description: "Which list of the account." })

/** Entries of one call: a thousand results would fill the context of a model. */
const fewer = <S extends TSchema>(entries: S): S => ({ ...entries, maxItems: LIMITS.batchItemsMax })

/** The tools. Their inputs and outputs are those of the API. */
export const TOOLS = {
  check: {
    title: "Check an address, a domain or a website",
    description:
      "Shows what one email address, domain or website is: business, personal, disposable, relay, education, government, invalid or unknown. Send exactly one of email, domain and url. `recommendation` says what to do under the policy: allow, review or block. `degraded` means that DNS did not answer.",
    input: CheckBody,
    output: CheckResult,
    isOpenWorld: true,
    summary: (result: CheckResult) => verdictText(result.email ?? result.url ?? result.domain ?? "", result),
  },
  check_batch: {
    title: "Check many at once",
    description: `Checks up to ${BatchBody.properties.items.maxItems} email addresses, domains and websites, in any mix. Use it instead of many calls of check. It gives one short result for each item, in the same order. An unreadable item is invalid.`,
    input: BatchBody,
    output: BatchItems,
    isOpenWorld: true,
    summary: ({ results }: (typeof BatchItems)["static"]) =>
      results
        .map(item => `${item.index}. ${verdictText(item.email ?? item.url ?? item.domain ?? item.input ?? "", item)}`)
        .join("\n"),
  },
  explain_listing: {
    title: "Explain what the lists say",
    description:
      "Shows which lists and sources contain a domain, since when, and which entry decides. It uses no network. Use it when somebody wants to know why a domain has its category.",
    input: t.Object({
      domain: t.String({
        maxLength: 2048,
        description: "A domain. Of an address or a website, only the domain is used.",
      }),
    }),
    output: ListingExplanation,
    isOpenWorld: false,
    summary: ({ domain: name, category: listed, message, listings }: ListingExplanation) =>
      [
        `${name}: ${listed} by the lists alone. ${message}`,
        ...listings.map(
          each =>
            `- ${each.list}: ${each.entry}, from ${each.source}, since ${each.since}${each.counts ? "" : `, not used: ${each.dropped_because}`}`,
        ),
      ].join("\n"),
  },
  usage: {
    title: "See limits and usage",
    description: `Shows the limits of the account, and the units used and left today. A check costs 1 unit, a deep check ${LIMITS.deepCheckUnits}.`,
    input: t.Object({}),
    output: Usage,
    isOpenWorld: false,
    summary: ({ today }: Usage) =>
      `Used today: ${today.used} units. Left: ${today.remaining ?? "unlimited"}. The next day begins at ${today.resets_at}.`,
  },
  own_list: {
    title: "See a block or allow list",
    description:
      "Shows the block list or the allow list of the account by pages, or the one entry that you name. An entry decides for this account alone, before any list of the server. Addresses are stored only as hashes.",
    input: t.Object({ list: OwnListName, ...OwnListQuery.properties }),
    output: OwnListPage,
    isOpenWorld: false,
    summary: ({ entries, next, total }: OwnListPage) =>
      [
        `${entries.length} of ${total} entries${next === null ? "" : `. The next page is after ${next}`}.`,
        ...entries.map(each => `- ${each.shown_as ?? each.entry}${each.note === null ? "" : ` (${each.note})`}`),
      ].join("\n"),
  },
  own_list_add: {
    title: "Add to a block or allow list",
    description: `Adds up to ${LIMITS.batchItemsMax} addresses, domains or \`*.domain\` to the block list or the allow list of the account. They count from the next check on.`,
    input: t.Object({ list: OwnListName, entries: fewer(OwnListEntriesBody.properties.entries) }),
    output: OwnListAddition,
    isOpenWorld: false,
    change: "adds",
    summary: ({ added, present, invalid, results }: OwnListAddition) =>
      `${added} added, ${present} on the list already, ${invalid} invalid.${invalidText(results)}`,
  },
  own_list_remove: {
    title: "Remove from a block or allow list",
    description: `Removes up to ${LIMITS.batchItemsMax} entries from the block list or the allow list of the account, by their value.`,
    input: t.Object({ list: OwnListName, entries: fewer(OwnListRemovalBody.properties.entries) }),
    output: OwnListRemoval,
    isOpenWorld: false,
    change: "removes",
    summary: ({ removed, absent, invalid, results }: OwnListRemoval) =>
      `${removed} removed, ${absent} not on the list, ${invalid} invalid.${invalidText(results)}`,
  },
  rules: {
    title: "See the rules of the account",
    description:
      "Shows what the account recommends instead of the policy, for each category and some reasons. Null: the policy decides.",
    input: t.Object({}),
    output: RulesAnswer,
    isOpenWorld: false,
    summary: rulesSummary,
  },
  rules_set: {
    title: "Replace the rules of the account",
    description:
      "Replaces all rules of the account: one that is left out is gone, so read them with rules first. They count from the next check on.",
    input: t.Object({ rules: RulesBody.properties.rules }),
    output: RulesAnswer,
    isOpenWorld: false,
    change: "replaces",
    summary: rulesSummary,
  },
} as const satisfies Record<string, ToolSpec>
export type ToolName = keyof typeof TOOLS
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[] // the keys of a table are its type's

/** What every agent is told about the server. */
export const INSTRUCTIONS = `mailkind shows what an email address, a domain or a website is. Policies: ${POLICY_NAMES.join(", ")}. Never tell a person that an address is bad because a check failed or is degraded. Only invalid_input about the subject itself means that the text is not an address. Change a block or allow list, or rules, only when a person wants it.`

function rulesSummary({ rules }: RulesAnswer): string {
  const lines = Object.entries(rules).flatMap(([rule, wanted]) => (wanted === null ? [] : [`- ${rule}: ${wanted}`]))
  return lines.length === 0 ? "The account has no rules." : ["The rules of the account:", ...lines].join("\n")
}

/** Which entries are invalid, and why. */
function invalidText(results: readonly { readonly index: number; readonly reason: OwnListFault | null }[]): string {
  return results
    .flatMap(({ index, reason }) =>
      reason === null ? [] : [`\n- entry ${index}: ${OWN_LIST_FAULTS[reason].description}`],
    )
    .join("")
}

type Verdict = Pick<CheckResult, "category" | "confidence" | "recommendation" | "did_you_mean" | "degraded" | "reasons">

function verdictText(subject: string, verdict: Verdict): string {
  const suggestion = verdict.did_you_mean === null ? "" : ` Did they mean ${verdict.did_you_mean}?`
  const degradedNote = verdict.degraded ? " DNS gave no answer, so that the verdict comes from the lists alone." : ""
  const why = verdict.reasons.map(reason => `${reason} (${REASONS[reason].description})`).join(" ")
  return `${JSON.stringify(subject)}: ${verdict.category}, confidence ${verdict.confidence}, recommendation ${verdict.recommendation}.${suggestion}${degradedNote} Reasons: ${why}`
}
