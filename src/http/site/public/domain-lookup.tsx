/** @jsxImportSource preact */

import { Fragment, type VNode } from "preact"
import { formatDate } from "../../../base/time.ts"
import {
  countingSources,
  type DomainExplanation,
  type ExplainDomainResult,
  type ExplainedListing,
  listingsOfLevel,
  sinceLabel,
  untilLabel,
} from "../../../check/explain-domain.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { queryParameters } from "../../request/request-url.ts"
import { withQuery } from "../links.ts"
import { CheckForm } from "../ui/check-form.tsx"
import { Prose } from "../ui/layout.tsx"
import { Table } from "../ui/table.tsx"
import { Verdict } from "../ui/verdict/verdict.tsx"
import { listsLabel, ReasonLink } from "../ui/verdict/verdict-evidence.tsx"
import { CATEGORY_LABELS } from "../ui/verdict/verdict-words.ts"

/** The query parameter with the domain, and the id of its field. */
const DOMAIN_PARAMETER = "domain"

const REPEATED_PARAMETER: ExplainDomainResult = { kind: "no_domain", message: "Look up one domain at a time." }

/** Looks up the domain in a page's URL. Null when the URL names none. */
export function lookupInUrl(url: string, lookUp: (text: string) => ExplainDomainResult): ExplainDomainResult | null {
  const [text, second] = queryParameters(url).getAll(DOMAIN_PARAMETER)
  if (text === undefined) return null
  return second === undefined ? lookUp(text) : REPEATED_PARAMETER
}

type DomainLookupProps = {
  readonly lookup: ExplainDomainResult | null
  /** How many sources there are. */
  readonly sourceCount: number
}

/** The field for a domain and, once a domain was sent, what the lists say about it. Nothing else that was sent is shown. */
export function DomainLookup({ lookup, sourceCount }: DomainLookupProps) {
  return (
    <>
      <DomainLookupForm lookup={lookup} />
      {lookup?.kind === "domain" ? (
        <>
          <DomainVerdict lookup={lookup} sourceCount={sourceCount} listsPath="" heading="h3" />
          <ListingsTable lookup={lookup} sourcesPath="" />
        </>
      ) : null}
    </>
  )
}

function DomainLookupForm({ lookup }: { readonly lookup: ExplainDomainResult | null }) {
  return (
    <CheckForm
      method="get"
      action={ROUTES.docsLists.path}
      name={DOMAIN_PARAMETER}
      label="Domain"
      button="Look up"
      placeholder="example.com"
      value={lookup?.kind === "domain" ? lookup.domain : ""}
      error={lookup?.kind === "no_domain" ? <>This is not a domain. {lookup.message}</> : null}
      hint="Leave out the part of an address before the @. It is not needed and would appear in the URL."
    />
  )
}

type DomainVerdictProps = Pick<DomainLookupProps, "sourceCount"> & {
  readonly lookup: DomainExplanation
  /** The path of the page with the sets and the sources. Empty: this page. */
  readonly listsPath: string
  /** The level of its heading on its page. */
  readonly heading: "h2" | "h3"
}

/** The category by the lists alone, and the entry that decides it. */
export function DomainVerdict({ lookup, sourceCount, listsPath, heading }: DomainVerdictProps) {
  const { domain, category, reason, message, entry, sets } = lookup
  const count = listsLabel({ named: countingSources(lookup), all: sourceCount })
  const setLinks = joinWithCommas(sets, set => (
    <a href={`${listsPath}#set-${set}`}>
      <code>{set}</code>
    </a>
  ))
  return (
    <Verdict
      heading={heading}
      tone={category}
      recommendation={null}
      subject={domain}
      headline={entry === null && category === "unknown" ? "On no list" : CATEGORY_LABELS[category]}
      meaning={<Prose text={message} />}
      facts={[
        [
          "Named by",
          listsPath === "" ? count : <a href={withQuery(listsPath, { [DOMAIN_PARAMETER]: domain })}>{count}</a>,
        ],
        ...(entry === null
          ? []
          : ([
              ["Deciding entry", <code>{entry}</code>],
              ["Set", setLinks],
            ] as const)),
        ["Reason", <ReasonLink reason={reason} />],
      ]}
    >
      <p class="hint">These are the lists alone. A check also uses accepted reports, own lists and DNS.</p>
    </Verdict>
  )
}

type ListingsProps = {
  readonly lookup: DomainExplanation
  /** The path of the page with the sources. Empty: this page. */
  readonly sourcesPath: string
}

/** All entries for the domain, with their sources. Nothing when there are none. */
export function ListingsTable({ lookup: { domain, levels }, sourcesPath }: ListingsProps) {
  const listings = levels.flatMap(listingsOfLevel)
  return listings.length === 0 ? null : (
    <Table caption={`Sources that list ${domain}`} columns={["Source", "Lists", "Since", "Licence"]}>
      {listings.map(listing => (
        <ListingRow key={`${listing.source} ${listing.entry}`} listing={listing} sourcesPath={sourcesPath} />
      ))}
    </Table>
  )
}

function ListingRow({
  listing,
  sourcesPath,
}: Pick<ListingsProps, "sourcesPath"> & { readonly listing: ExplainedListing }) {
  const { source, entry, set, licence, dropReason, basis } = listing
  const until = withReadableDates(untilLabel(listing))
  return (
    <tr>
      <th scope="row">
        <a href={`${sourcesPath}#source-${source}`}>
          <code>{source}</code>
        </a>
      </th>
      <td>
        <code>{entry}</code> as <code>{set}</code>
        {dropReason === null ? null : <p class="hint">Does not count: {dropReason}</p>}
        {basis === null ? null : <p class="hint">Counts: {basis}.</p>}
      </td>
      <td class="short">
        {withReadableDates(sinceLabel(listing))}
        {until === "" ? null : <p class="hint">{until}</p>}
      </td>
      <td class="short">{licence}</td>
    </tr>
  )
}

/** A text with its days as people write them. */
const withReadableDates = (text: string): string => text.replace(/\d{4}-\d\d-\d\d/g, day => formatDate(Date.parse(day)))

/** Renders names, separated by commas. */
const joinWithCommas = <T extends string>(names: readonly T[], render: (name: T) => VNode) =>
  names.map((name, index) => (
    <Fragment key={name}>
      {index === 0 ? "" : ", "}
      {render(name)}
    </Fragment>
  ))
