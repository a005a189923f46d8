/** @jsxImportSource preact */

import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import {
  type ActCursor,
  AUDIT_ACTS,
  type AuditActKind,
  listOperatorActs,
  type RecordedAct,
} from "../../../customers/audit/audit.ts"
import type { ActorKind } from "../../../customers/store/change-log/actor.ts"
import { handlers } from "../../router.ts"
import { pathWithId, queryParameter } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { formatNumber } from "../ui/format.ts"
import { Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { Pagination, paginate } from "../ui/pagination.tsx"
import { AdminLayout, ROWS_PER_PAGE } from "./admin-layout.tsx"

/** The audit log: what administrators did, the latest first. */
export function adminActsRoutes({ guards, changes }: SiteContext) {
  return handlers({
    adminActs: exchange =>
      guards.requireAdmin.page(exchange, async user => {
        const after = parseCursor(queryParameter(exchange.request.url, "after"))
        const { rows, lastRow } = paginate(
          await listOperatorActs(changes.store, after, ROWS_PER_PAGE + 1),
          ROWS_PER_PAGE,
        )
        return (
          <AdminLayout route="adminActs" section="adminActs" title="Audit log" user={user}>
            <p>
              This log has what administrators, commands on the server and reports of leaked keys changed. We keep it
              for {LIMITS.auditDays} days, up to {formatNumber(LIMITS.auditEntriesMax)} entries. What owners changed of
              their accounts is on the pages of these. <code>mailkind audit</code> prints everything.
            </p>
            {rows.length === 0 ? <p>{after === null ? "Nothing yet." : "There are no more entries."}</p> : null}
            {rows.length === 0 ? null : <ActsTable acts={rows} />}
            <Pagination
              path={ROUTES.adminActs.path}
              query={{}}
              after={lastRow && `${lastRow.atMs}.${lastRow.id}`}
              isFirstPage={after === null}
            />
          </AdminLayout>
        )
      }),
  })
}

/** The cursor of a page's URL; null: the first page. */
function parseCursor(text: string): ActCursor | null {
  const [, atMs = "", id = ""] = /^(\d{1,15})\.(act_[0-9A-Za-z]{20})$/.exec(text) ?? []
  return id === "" ? null : { atMs: Number(atMs), id }
}

/** Acts with who did them, about what, and when. */
export function ActsTable({ acts }: { readonly acts: readonly RecordedAct[] }) {
  return (
    <Table caption="What was changed" columns={["What", "About", "Details", "By", "When"]}>
      {acts.map(act => (
        <ActRow key={act.id} act={act} />
      ))}
    </Table>
  )
}

function ActRow({ act }: { readonly act: RecordedAct }) {
  const { kind, accountId, accountEmail, details, atMs } = act
  return (
    <tr>
      <th scope="row">{actLabel(kind)}</th>
      <td class="any">{accountId === null ? "–" : <AccountName id={accountId} email={accountEmail} />}</td>
      <td class="any">{details === "" ? "–" : <ActDetails kind={kind} details={details} />}</td>
      <td class="any">
        <ActorName act={act} />
      </td>
      <td>
        <Timestamp atMs={atMs} />
      </td>
    </tr>
  )
}

const actLabel = (kind: string): string => (isKnownAct(kind) ? AUDIT_ACTS[kind].label : kind)

const isKnownAct = (kind: string): kind is AuditActKind => Object.hasOwn(AUDIT_ACTS, kind)

/** The account of the actor, or what they are called. */
function ActorName({ act: { actorKind, actorId, actorEmail } }: { readonly act: RecordedAct }) {
  if (actorKind === "account" || actorKind === "admin") return <AccountName id={actorId} email={actorEmail} />
  return <>{actorId === "" ? ACTOR_LABELS[actorKind] : `${ACTOR_LABELS[actorKind]} ${actorId}`}</>
}

const ACTOR_LABELS = {
  operator: "Command of",
  leak_reporter: "Leak report",
  server: "The server",
} as const satisfies Record<Exclude<ActorKind, "account" | "admin">, string>

/** The account's email, or the id of a deleted one. */
function AccountName({ id, email }: { readonly id: string; readonly email: string | null }) {
  if (email !== null) return <a href={pathWithId("adminAccount", id)}>{email}</a>
  return (
    <>
      <code>{id}</code> (deleted)
    </>
  )
}

function ActDetails({ kind, details }: { readonly kind: string; readonly details: string }) {
  if (kind === "report_accepted" || kind === "report_rejected")
    return <a href={pathWithId("adminReport", details)}>{details}</a>
  return <>{details}</>
}
