/** @jsxImportSource preact */
import { Fragment, type VNode } from "preact"
import { type DomainLookUp, type KnownListing, type LookUp, listingsAt, sinceWords } from "../../check/look-up.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import { queryOf } from "../query.ts"
import { Prose, Table } from "./layout.tsx"

/** The parameter of the page's URL that asks about a domain, and the id of its field. */
const PARAMETER = "domain"

const REPEATED: LookUp = { kind: "no_domain", says: "Ask about one domain at a time." }

/** What a page's URL asks the lists about; null: nothing. */
export function lookedUp(url: string, lookUp: (text: string) => LookUp): LookUp | null {
  const [text, another] = queryOf(url).getAll(PARAMETER)
  if (text === undefined) return null
  return another === undefined ? lookUp(text) : REPEATED
}

/** The field for a domain and, once one was asked about, what the lists say of it. Nothing that was sent but a domain is shown. */
export function LookUpSection({ found }: { readonly found: LookUp | null }) {
  return (
    <section aria-labelledby="look-up">
      <h2 id="look-up">Look up a domain</h2>
      <AskForm found={found} />
      {found?.kind === "domain" ? <Answer found={found} /> : null}
    </section>
  )
}

function AskForm({ found }: { readonly found: LookUp | null }) {
  const fault = found?.kind === "no_domain" ? found.says : null
  return (
    <search>
      <form class="ask" method="get" action={ROUTES.docsLists.path}>
        <label for={PARAMETER}>Domain</label>
        <input
          id={PARAMETER}
          name={PARAMETER}
          type="text"
          inputMode="url"
          required
          maxLength={LIMITS.urlLengthMax}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={found?.kind === "domain" ? found.domain : ""}
          aria-describedby={fault === null ? "domain-hint" : "domain-fault domain-hint"}
          aria-invalid={fault !== null}
        />
        <button type="submit">Look up</button>
        {fault === null ? null : (
          <p class="fault" id="domain-fault" role="alert">
            That is no domain. {fault}
          </p>
        )}
        <p class="hint" id="domain-hint">
          A name such as <code>example.com</code>. Leave out what stands before the <code>@</code> of an address: it is
          not used, and the page's URL would hold it.
        </p>
      </form>
    </search>
  )
}

/** What holds, why, and every source that has a word in it. */
function Answer({ found }: { readonly found: DomainLookUp }) {
  const { domain, category, says, levels } = found
  const listings = levels.flatMap(listingsAt)
  return (
    <section aria-labelledby="answer">
      <h3 id="answer">
        <code>{domain}</code> {category === "unknown" ? "is on no list" : `counts as ${category}`}
      </h3>
      <p>
        <Prose text={says} /> <Decided found={found} />
      </p>
      <ListingsTable found={found} sourcesAt="" />
      <p class="hint">
        {listings.length === 0 ? "No source lists it, or a name above it. " : null}A check also goes by accepted
        reports, own lists and DNS.
      </p>
    </section>
  )
}

type ListingsProps = {
  readonly found: DomainLookUp
  /** The path of the page that tells of the sources; empty: it is this one. */
  readonly sourcesAt: string
}

/** Every source that has a word in it; nothing when none has. */
export function ListingsTable({ found: { domain, levels }, sourcesAt }: ListingsProps) {
  const listings = levels.flatMap(listingsAt)
  return listings.length === 0 ? null : (
    <Table caption={`Sources that list ${domain}`} columns={["Source", "Lists", "Since", "Licence"]}>
      {listings.map(listing => (
        <ListingRow key={`${listing.source} ${listing.entry}`} listing={listing} sourcesAt={sourcesAt} />
      ))}
    </Table>
  )
}

/** Which entry gives the answer, in which sets it is, and the reason that a check would name. */
function Decided({ found: { entry, sets, reason } }: { readonly found: DomainLookUp }) {
  const named = (
    <a href={`${ROUTES.docsReasons.path}#${reason}`}>
      <code>{reason}</code>
    </a>
  )
  if (entry === null) return <>The reason is {named}.</>
  return (
    <>
      What decides is the entry <code>{entry}</code> in{" "}
      {listed(sets, set => (
        <a href={`#set-${set}`}>
          <code>{set}</code>
        </a>
      ))}
      ; the reason is {named}.
    </>
  )
}

function ListingRow({ listing, sourcesAt }: Pick<ListingsProps, "sourcesAt"> & { readonly listing: KnownListing }) {
  const { source, entry, set, licence, droppedBy } = listing
  return (
    <tr>
      <th scope="row">
        <a href={`${sourcesAt}#source-${source}`}>
          <code>{source}</code>
        </a>
      </th>
      <td>
        <code>{entry}</code> as <code>{set}</code>
        {droppedBy === null ? null : <p class="hint">Does not count: {droppedBy}</p>}
      </td>
      <td class="short">{sinceWords(listing)}</td>
      <td class="short">{licence}</td>
    </tr>
  )
}

/** Names between commas, each as it is drawn. */
const listed = <T extends string>(names: readonly T[], drawn: (name: T) => VNode) =>
  names.map((name, at) => (
    <Fragment key={name}>
      {at === 0 ? "" : ", "}
      {drawn(name)}
    </Fragment>
  ))
