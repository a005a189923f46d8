/** @jsxImportSource preact */
import { loadMailboxRules, type RuleWord } from "../../../../check/address/mailbox-rules.ts"
import { LISTING_RULE_NAMES, LISTING_RULES } from "../../../../check/lists/listing-rules.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { DomainLookup } from "../../public/domain-lookup.tsx"
import { ListsFreshness, SourcesTable } from "../../public/lists-overview.tsx"
import { formatNumber } from "../../ui/format.ts"
import { type BlockInsert, factOf, type Insert, type ListsFacts } from "./insert.ts"
import { codeFence, codeSpan, escapeMarkdown, markdownTable, proseText, termList } from "./markdown-text.ts"

/** The sets of the lists, and the commands that correct a wrong listing. */
export const LIST_INSERTS = {
  "list-sets": ({ lists }) =>
    markdownTable(
      ["Set", "Meaning", { head: "Names", cells: "number" }],
      factOf(lists).overview.sets.map(({ name, description, entryCount }) => [
        `${codeSpan(name)} {#set-${name}}`,
        proseText(description),
        formatNumber(entryCount),
      ]),
    ),
  "listing-rules": () =>
    markdownTable(
      ["A listing does not count as", "When"],
      LISTING_RULE_NAMES.map(rule => [`${codeSpan(rule)} {#rule-${rule}}`, proseText(LISTING_RULES[rule])]),
    ),
  "mailbox-rules": () =>
    markdownTable(
      ["Provider", "Does not count", "Domains that are one"],
      loadMailboxRules().rows.map(({ name, domains, one, words }) => [
        escapeMarkdown(name),
        words.length === 0 ? "–" : words.map(word => RULE_TEXTS[word]).join(", "),
        one === null ? "–" : joinedText(domains),
      ]),
    ),
  "report-command": ({ lists, baseUrl }) => {
    const { domain, category } = exampleMistake(factOf(lists))
    return codeFence("sh", "Report", reportCommand(baseUrl, { domain, expected_category: category }))
  },
  "allow-command": ({ lists }) => codeSpan(`mailkind allow add ${exampleMistake(factOf(lists)).domain}`),
  "block-command": ({ lists }) => codeSpan(`mailkind block add ${exampleMistake(factOf(lists)).domain}`),
} as const satisfies Readonly<Record<string, Insert>>

/** What an address may have that its provider does not read. */
const RULE_TEXTS: Readonly<Record<RuleWord, string>> = {
  tag: "`+tag`",
  word: "`-word`",
  dots: "dots",
  hyphens: "hyphens",
  underscores: "underscores",
  dot_is_hyphen: "dot or hyphen",
  subdomain: "`x@` before `user.domain`",
}

/** So many domains that are one are named. */
const NAMED_DOMAINS_MAX = 4

const joinedText = (domains: readonly string[]): string =>
  domains.length > NAMED_DOMAINS_MAX ? `all ${formatNumber(domains.length)}` : domains.map(codeSpan).join(", ")

/** A wrong listing that a visitor could report: of the domain that was looked up, where there is one. */
function exampleMistake({ lookup }: ListsFacts): { readonly domain: string; readonly category: string } {
  if (lookup?.kind !== "domain" || lookup.category === "invalid")
    return { domain: "example.com", category: CATEGORY_NAMES[0] ?? "business" }
  const category = CATEGORY_NAMES.find(own => own !== lookup.category) ?? "business"
  return { domain: lookup.domain, category }
}

/** A command for a shell that reports a wrong verdict. */
const reportCommand = (baseUrl: string, report: Readonly<Record<string, string>>): string =>
  [
    `curl -s '${baseUrl}${ROUTES.postFeedback.path}'`,
    "-H 'Authorization: Bearer <API_KEY>'",
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(report)}'`,
  ].join(" \\\n  ")

/** Which lists are in use, the field for a domain, and the sources. */
export const LIVE_LIST_INSERTS = {
  "lists-in-use": ({ lists }) => {
    const { overview } = factOf(lists)
    const { version, builtAt, refreshedAt, isPaused } = overview
    return {
      markdown: termList([
        ["Version", codeSpan(version)],
        ["Built", builtAt],
        ["Refreshed", refreshedAt ?? "never, these lists are built in"],
        ["Paused", isPaused ? "yes, until an update by hand" : "no"],
      ]),
      html: <ListsFreshness lists={overview} />,
    }
  },
  "look-up": ({ lists }) => ({
    markdown:
      "The HTML form of this page has a field for a domain. On the server, `mailkind lists lookup DOMAIN` prints the same.",
    html: <DomainLookup lookup={factOf(lists).lookup} />,
  }),
  "list-sources": ({ lists }) => {
    const { overview } = factOf(lists)
    return {
      markdown: markdownTable(
        ["Source", "Licence", "Origin", "Fills", "Trust", "Date", { head: "Entries", cells: "number" }, "Last refresh"],
        overview.sources.map(({ id, licence, origin, setName, trust, date, entryCount, refresh }) => [
          codeSpan(id),
          escapeMarkdown(licence),
          escapeMarkdown(origin),
          codeSpan(setName),
          trust,
          date === "" ? "–" : date,
          formatNumber(entryCount),
          refresh === null ? "–" : escapeMarkdown(`${refresh.outcome} ${refresh.checkedAt} ${refresh.message}`.trim()),
        ]),
      ),
      html: <SourcesTable lists={overview} />,
    }
  },
} as const satisfies Readonly<Record<string, BlockInsert>>
