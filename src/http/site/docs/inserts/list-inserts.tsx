/** @jsxImportSource preact */
import { loadMailboxRules, type RuleWord } from "../../../../check/address/mailbox-rules.ts"
import { LISTING_RULE_NAMES, LISTING_RULES } from "../../../../check/lists/listing-rules.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { DomainLookup } from "../../public/domain-lookup.tsx"
import {
  domainSourceCount,
  ListsTiles,
  SourceGroups,
  type SourceOverview,
  sourceGroups,
} from "../../public/lists-overview.tsx"
import { curlRequest, formatNumber } from "../../ui/format.ts"
import { KEY_VARIABLE } from "../examples.ts"
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
  "mailbox-rules": () =>
    markdownTable(
      ["Provider", "Does not count", "Domains that are one"],
      loadMailboxRules().rows.map(({ name, domains, one, words }) => [
        escapeMarkdown(name),
        words.length === 0 ? "–" : words.map(word => RULE_TEXTS[word]).join(", "),
        one === null ? "–" : joinedText(domains),
      ]),
    ),
  "listing-rules": () =>
    `**Every rule**\n\n${markdownTable(
      ["A listing does not count as", "When"],
      LISTING_RULE_NAMES.map(rule => [`${codeSpan(rule)} {#rule-${rule}}`, proseText(LISTING_RULES[rule])]),
    )}`,
  "report-command": ({ lists, baseUrl }) => {
    const { domain, category } = exampleMistake(factOf(lists))
    const url = `${baseUrl}${ROUTES.postFeedback.path}`
    const json = { domain, expected_category: category }
    return codeFence("sh", "Report", curlRequest({ method: "POST", url, key: `$${KEY_VARIABLE}`, body: { json } }))
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

/** Which lists are in use, the field for a domain, and the sources. */
export const LIVE_LIST_INSERTS = {
  "lists-in-use": ({ lists }) => {
    const { overview } = factOf(lists)
    const { version, builtAt, refreshedAt, pinned } = overview
    return {
      markdown: termList([
        ["Version", codeSpan(version)],
        ["Built", builtAt],
        ["Refreshed", refreshedAt ?? "never, these lists are built in"],
        ["Pinned", pinned === null ? "no" : "yes, by the operator"],
      ]),
      html: <ListsTiles lists={overview} />,
    }
  },
  "look-up": ({ lists }) => ({
    markdown:
      "The HTML form of this page has a field for a domain. On the server, `mailkind lists lookup DOMAIN` prints the same.",
    html: <DomainLookup lookup={factOf(lists).lookup} sourceCount={domainSourceCount(factOf(lists).overview)} />,
  }),
  "list-sources": ({ lists }) => {
    const { overview } = factOf(lists)
    const groups = sourceGroups(overview.sources, "subject")
    const items = groups.map(([label, sources]) => `**${label}**\n\n${sources.map(sourceItem).join("\n")}`)
    return { markdown: items.join("\n\n"), html: <SourceGroups groups={groups} /> }
  },
} as const satisfies Readonly<Record<string, BlockInsert>>

function sourceItem({ id, setName, trust, licence, origin, date, entryCount, refresh }: SourceOverview): string {
  const facts = [
    `${formatNumber(entryCount)} names`,
    date === "" ? "no date" : date,
    setName,
    `${trust} trust`,
    licence,
  ]
  const last = refresh === null ? "" : ` ${refresh.outcome} ${refresh.checkedAt} ${refresh.message}`
  return `- ${codeSpan(id)}: ${escapeMarkdown(`${facts.join(", ")}, ${origin}.${last}`)}`
}
