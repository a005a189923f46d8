/** @jsxImportSource preact */
import type { SourceOutcome } from "../../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { handlers } from "../../router.ts"
import type { SignedInUser } from "../guards.ts"
import { IsoTimestamp, ListsFreshness, type ListsOverview, type SourceOverview } from "../public/lists-overview.tsx"
import type { SiteContext } from "../site-context.ts"
import { formatNumber } from "../ui/format.ts"
import { Table } from "../ui/layout.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The sources of the lists and the health of each. */
export function adminSourcesRoutes({ guards, lists }: SiteContext) {
  return handlers({
    adminSources: exchange =>
      guards.requireAdmin.page(exchange, async user => <SourcesPage user={user} lists={lists()} />),
  })
}

type SourcesPageProps = { readonly user: SignedInUser; readonly lists: ListsOverview }

function SourcesPage({ user, lists }: SourcesPageProps) {
  const sources = lists.sources.toSorted((one, other) => healthRank(one) - healthRank(other))
  const faultyCount = sources.filter(({ refresh }) => refresh !== null && isFault(refresh.outcome)).length
  return (
    <AdminLayout route="adminSources" section="adminSources" title="Sources" user={user}>
      <p>
        {faultyCount === 0 ? "All sources are healthy." : `${faultyCount} of ${sources.length} sources have a problem.`}{" "}
        If a source fails or is refused, we keep using its last good copy.
      </p>
      <ListsFreshness lists={lists} />
      <Table caption="Sources" columns={["Source", "State", "Last good", "Last error", "Entries", "Entries changed"]}>
        {sources.map(source => (
          <SourceRow key={source.id} source={source} />
        ))}
      </Table>
      <p>
        <a href={ROUTES.docsLists.path}>Licences, origins and look-up</a>
      </p>
    </AdminLayout>
  )
}

const isFault = (outcome: SourceOutcome): boolean => outcome === "refused" || outcome === "failed"

/** Sources with a problem come first. */
const healthRank = ({ refresh }: SourceOverview): number => (refresh !== null && isFault(refresh.outcome) ? 0 : 1)

/** The state of a source after its last download. */
const OUTCOME_STATES: { readonly [O in SourceOutcome]: string } = {
  taken: "healthy",
  unchanged: "healthy",
  refused: "refused",
  failed: "failed",
}

function SourceRow({ source: { id, setName, trust, date, entryCount, refresh } }: { readonly source: SourceOverview }) {
  return (
    <tr id={`source-${id}`}>
      <th scope="row">
        <code>{id}</code>
        <p class="hint">
          {setName}, {trust} trust
        </p>
      </th>
      <td>
        {refresh === null ? "built in" : <SourceState outcome={refresh.outcome} />}
        {refresh === null || refresh.message === "" ? null : <p class="hint any">{refresh.message}</p>}
      </td>
      <td>{refresh === null ? "never fetched" : <Instant at={refresh.goodAt} />}</td>
      <td>
        {refresh === null || refresh.lastFault === null ? (
          "none"
        ) : (
          <>
            <Instant at={refresh.lastFault.at} />
            <p class="hint any">{refresh.lastFault.message}</p>
          </>
        )}
      </td>
      <td class="number">{formatNumber(entryCount)}</td>
      <td>{refresh?.changedAt ? <Instant at={refresh.changedAt} /> : date === "" ? "never" : date}</td>
    </tr>
  )
}

function SourceState({ outcome }: { readonly outcome: SourceOutcome }) {
  return isFault(outcome) ? (
    <strong class="wrong">{OUTCOME_STATES[outcome]}</strong>
  ) : (
    <span>{OUTCOME_STATES[outcome]}</span>
  )
}

const Instant = ({ at }: { readonly at: string | null }) => (at === null ? <>never</> : <IsoTimestamp at={at} />)
