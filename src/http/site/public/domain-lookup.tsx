/** @jsxImportSource preact */
import { Fragment, type VNode } from "preact"
import {
  type DomainExplanation,
  type ExplainDomainResult,
  type ExplainedListing,
  listingsOfLevel,
  sinceLabel,
  untilLabel,
} from "../../../check/explain-domain.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { queryParameters } from "../../request/request-url.ts"
import { Prose, Table } from "../ui/layout.tsx"
import { ReasonLink } from "../ui/verdict/verdict-evidence.tsx"

/** The query parameter with the domain, and the id of its field. */
const DOMAIN_PARAMETER = "domain"

const REPEATED_PARAMETER: ExplainDomainResult = { kind: "no_domain", message: "Look up one domain at a time." }

/** Looks up the domain in a page's URL. Null when the URL names none. */
export function lookupInUrl(url: string, lookUp: (text: string) => ExplainDomainResult): ExplainDomainResult | null {
  const [text, second] = queryParameters(url).getAll(DOMAIN_PARAMETER)
  if (text === undefined) return null
  return second === undefined ? lookUp(text) : REPEATED_PARAMETER
}

/** The field for a domain and, once a domain was sent, what the lists say about it. Nothing else that was sent is shown. */
export function DomainLookup({ lookup }: { readonly lookup: ExplainDomainResult | null }) {
  return (
    <>
      <DomainLookupForm lookup={lookup} />
      {lookup?.kind === "domain" ? <DomainLookupResult lookup={lookup} /> : null}
    </>
  )
}

function DomainLookupForm({ lookup }: { readonly lookup: ExplainDomainResult | null }) {
  const error = lookup?.kind === "no_domain" ? lookup.message : null
  return (
    <search>
      <form class="ask" method="get" action={ROUTES.docsLists.path}>
        <label for={DOMAIN_PARAMETER}>Domain</label>
        <input
          id={DOMAIN_PARAMETER}
          name={DOMAIN_PARAMETER}
          type="text"
          inputMode="url"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={lookup?.kind === "domain" ? lookup.domain : ""}
          aria-describedby={error === null ? "domain-hint" : "domain-fault domain-hint"}
          aria-invalid={error !== null}
        />
        <button type="submit">Look up</button>
        {error === null ? null : (
          <p class="fault" id="domain-fault" role="alert">
            This is not a domain. {error}
          </p>
        )}
        <p class="hint" id="domain-hint">
          A name such as <code>example.com</code>. For an address, leave out the part before the <code>@</code>. It is
          not needed and would appear in the URL.
        </p>
      </form>
    </search>
  )
}

/** The category, the entry that decides it, and every source that lists the domain. */
function DomainLookupResult({ lookup }: { readonly lookup: DomainExplanation }) {
  const { domain, category, message, levels, entry } = lookup
  const listings = levels.flatMap(listingsOfLevel)
  return (
    <section aria-labelledby="answer">
      <h3 id="answer">
        <code>{domain}</code> {entry === null && category === "unknown" ? "is on no list" : `counts as ${category}`}
      </h3>
      <p>
        <Prose text={message} /> <DecisiveEntry lookup={lookup} />
      </p>
      <ListingsTable lookup={lookup} sourcesPath="" />
      <p class="hint">
        {listings.length === 0 ? "No source lists it or a parent of it. " : null}A check also uses accepted reports, own
        lists and DNS.
      </p>
    </section>
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

/** The entry that decides, its sets, and the reason that a check would return. */
function DecisiveEntry({ lookup: { entry, sets, reason } }: { readonly lookup: DomainExplanation }) {
  const reasonLink = <ReasonLink reason={reason} />
  if (entry === null) return <>The reason is {reasonLink}.</>
  return (
    <>
      The deciding entry is <code>{entry}</code> in{" "}
      {joinWithCommas(sets, set => (
        <a href={`#set-${set}`}>
          <code>{set}</code>
        </a>
      ))}
      . The reason is {reasonLink}.
    </>
  )
}

function ListingRow({
  listing,
  sourcesPath,
}: Pick<ListingsProps, "sourcesPath"> & { readonly listing: ExplainedListing }) {
  const { source, entry, set, licence, dropReason, basis } = listing
  const until = untilLabel(listing)
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
        {sinceLabel(listing)}
        {until === "" ? null : <p class="hint">{until}</p>}
      </td>
      <td class="short">{licence}</td>
    </tr>
  )
}

/** Renders names, separated by commas. */
const joinWithCommas = <T extends string>(names: readonly T[], render: (name: T) => VNode) =>
  names.map((name, index) => (
    <Fragment key={name}>
      {index === 0 ? "" : ", "}
      {render(name)}
    </Fragment>
  ))
