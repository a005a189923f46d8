/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { handlers } from "../../router.ts"
import { type ListsOverview, ListsTiles, SourceGroups, sourceGroups } from "../public/lists-overview.tsx"
import type { SiteContext } from "../site-context.ts"
import { Panel } from "../ui/panels.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The sources of the lists and the health of each. */
export function adminSourcesRoutes({ guards, lists }: SiteContext) {
  return handlers({
    adminSources: exchange => guards.requireAdmin.page(exchange, async () => <SourcesPage lists={lists()} />),
  })
}

/** All sources by their state, those with a problem first. */
function SourcesPage({ lists }: { readonly lists: ListsOverview }) {
  return (
    <AdminLayout
      route="adminSources"
      section="adminSources"
      title="Sources"
      action={<a href={ROUTES.docsLists.path}>Licences and look-up</a>}
    >
      <ListsTiles lists={lists} />
      <Panel>
        <SourceGroups groups={sourceGroups(lists.sources, "state")} needAttention />
        <p class="hint">If a source fails or is refused, its last good copy stays in use.</p>
      </Panel>
    </AdminLayout>
  )
}
