/** @jsxImportSource preact */
import { formatDate } from "../../../base/time.ts"
import type { SourceOutcome } from "../../../check/refresh/refresh-state.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { handlers } from "../../router.ts"
import { IsoTimestamp, ListsFreshness, type ListsOverview, type SourceOverview } from "../public/lists-overview.tsx"
import type { SiteContext } from "../site-context.ts"
import { formatCount, formatNumber } from "../ui/format.ts"
import { Notice, Panel, Tiles } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The sources of the lists and the health of each. */
export function adminSourcesRoutes({ guards, lists }: SiteContext) {
  return handlers({
    adminSources: exchange => guards.requireAdmin.page(exchange, async () => <SourcesPage lists={lists()} />),
  })
}

type SourcesPageProps = { readonly lists: ListsOverview }

/** All sources by their state, those with a problem first. */
function SourcesPage({ lists }: SourcesPageProps) {
  const { failing, healthy, builtIn } = Object.groupBy(lists.sources, groupOf)
  return (
    <AdminLayout
      route="adminSources"
      section="adminSources"
      title="Sources"
      action={<a href={ROUTES.docsLists.path}>Licences and look-up</a>}
    >
      <Tiles
        tiles={[
          { label: "Healthy", value: formatNumber(healthy?.length ?? 0) },
          { label: "With a problem", value: formatNumber(failing?.length ?? 0) },
          { label: "Built in", value: formatNumber(builtIn?.length ?? 0), note: "never fetched" },
          { label: "Entries", value: formatNumber(lists.sources.reduce((sum, { entryCount }) => sum + entryCount, 0)) },
        ]}
      />
      {failing === undefined ? (
        <Notice tone="allow">No source has a problem.</Notice>
      ) : (
        <Panel title={`With a problem (${failing.length})`}>
          <p class="hint">If a source fails or is refused, its last good copy stays in use.</p>
          <ul class="plain todos">
            {failing.map(source => (
              <FailingSource key={source.id} source={source} />
            ))}
          </ul>
        </Panel>
      )}
      <SourceGroup name="Healthy" sources={healthy ?? []} />
      <SourceGroup name="Built in" sources={builtIn ?? []} />
      <ListsFreshness lists={lists} />
    </AdminLayout>
  )
}

const isFault = (outcome: SourceOutcome): boolean => outcome === "refused" || outcome === "failed"

function groupOf({ refresh }: SourceOverview): "failing" | "healthy" | "builtIn" {
  if (refresh === null) return "builtIn"
  return isFault(refresh.outcome) ? "failing" : "healthy"
}

function FailingSource({ source: { id, entryCount, refresh } }: { readonly source: SourceOverview }) {
  if (refresh === null) return null
  return (
    <li id={`source-${id}`}>
      <div>
        <code>{id}</code> <span class="pill block">{refresh.outcome}</span>
        <p class="any">{refresh.message}</p>
        <p class="hint">
          Last good: <Instant at={refresh.goodAt} />, {formatCount(entryCount, "entry", "entries")}
        </p>
      </div>
    </li>
  )
}

const SOURCE_COLUMNS = [
  { name: "Source", kind: "text" },
  { name: "Set", kind: "text" },
  { name: "Trust", kind: "text", onPhone: "hidden" },
  { name: "Entries", kind: "number", onPhone: "first" },
  { name: "Checked", kind: "time", onPhone: "hidden" },
  { name: "Changed", kind: "time" },
  { name: "Last problem", kind: "text", onPhone: "hidden" },
] as const satisfies readonly TableColumn[]

type SourceGroupProps = { readonly name: string; readonly sources: readonly SourceOverview[] }

function SourceGroup({ name, sources }: SourceGroupProps) {
  if (sources.length === 0) return null
  return (
    <details open>
      <summary>
        {name} ({sources.length})
      </summary>
      <Table caption={name} columns={SOURCE_COLUMNS}>
        {sources.map(({ id, setName, trust, date, entryCount, refresh }) => (
          <tr key={id} id={`source-${id}`}>
            <th scope="row">{id}</th>
            <td>{setName}</td>
            <td>{trust}</td>
            <td>{formatNumber(entryCount)}</td>
            <td>{refresh === null ? "never" : <IsoTimestamp at={refresh.checkedAt} />}</td>
            <td>{refresh?.changedAt ? <IsoTimestamp at={refresh.changedAt} /> : <EntriesDate date={date} />}</td>
            <td>{refresh?.lastFault?.message ?? ""}</td>
          </tr>
        ))}
      </Table>
    </details>
  )
}

/** The date of the entries of a source that did not change since this program was built. */
const EntriesDate = ({ date }: { readonly date: string }) => <>{date === "" ? "never" : formatDate(Date.parse(date))}</>

const Instant = ({ at }: { readonly at: string | null }) => (at === null ? <>never</> : <IsoTimestamp at={at} />)
