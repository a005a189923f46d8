/** @jsxImportSource preact */

import type { ComponentChildren } from "preact"
import { ROUTES } from "../../../contract/routes.ts"
import { type ListOwner, OPERATOR, type OwnList } from "../../../customers/own-lists/own-lists.ts"
import type { AttributedLog } from "../../../customers/store/change-log/change-log.ts"
import { AdminLayout } from "../admin/admin-layout.tsx"
import { adminChanges, ownerChanges } from "../attributed-changes.ts"
import { DashboardLayout } from "../dashboard/dashboard-layout.tsx"
import type { Guards, SignedInUser } from "../guards.ts"
import type { SiteContext } from "../site-context.ts"

/** Whose block and allow lists the pages are about, and what differs between an account's and the operator's. */
export type OwnListScope = {
  readonly guard: keyof Pick<Guards, "requireAccount" | "requireAdmin">
  readonly ownerOf: (user: SignedInUser) => ListOwner
  readonly paths: Readonly<Record<"page" | "file" | "table" | "entries" | "import", string>>
  /** The changes that the user makes of these lists. */
  readonly changesOf: (site: SiteContext, user: SignedInUser) => AttributedLog
  readonly Layout: (props: { readonly user: SignedInUser; readonly children: ComponentChildren }) => ComponentChildren
  /** What a list does. */
  readonly effects: Readonly<Record<OwnList, string>>
  /** Which list wins. */
  readonly precedence: readonly string[]
  /** How the owner is called in the text file, such as "your account". */
  readonly ownerLabel: string
}

/** The lists of the account that is signed in, on the dashboard. */
export const ACCOUNT_LISTS: OwnListScope = {
  guard: "requireAccount",
  ownerOf: ({ account }) => ({ accountId: account.id }),
  paths: {
    page: ROUTES.ownLists.path,
    file: ROUTES.ownListFile.path,
    table: ROUTES.ownListTable.path,
    entries: ROUTES.postListEntries.path,
    import: ROUTES.postListImport.path,
  },
  changesOf: ownerChanges,
  Layout: ({ user, children }) => (
    <DashboardLayout route="ownLists" title="Block & allow" user={user}>
      {children}
    </DashboardLayout>
  ),
  effects: {
    block: "What is on this list always gets the answer Block, unless it is on your allow list too.",
    allow: "What is on this list always gets the answer Allow, unless the address cannot exist.",
  },
  precedence: [
    "If both lists match, the allow list wins.",
    "The operator of this server has a block list too. It beats your allow list.",
  ],
  ownerLabel: "your account",
}

/** The lists of the operator, in the administration. Each change of them is an act in the audit log. */
export const OPERATOR_LISTS: OwnListScope = {
  guard: "requireAdmin",
  ownerOf: () => OPERATOR,
  paths: {
    page: ROUTES.adminLists.path,
    file: ROUTES.adminListFile.path,
    table: ROUTES.adminListTable.path,
    entries: ROUTES.postAdminListEntries.path,
    import: ROUTES.postAdminListImport.path,
  },
  changesOf: adminChanges,
  Layout: ({ children }) => (
    <AdminLayout route="adminLists" section="adminLists" title="Block & allow">
      {children}
    </AdminLayout>
  ),
  effects: {
    block: "Everything on this list is blocked for every account. Accounts cannot override it.",
    allow: "For all accounts and the free checker, nothing on this list counts as disposable or as a relay.",
  },
  precedence: [
    "The block list beats the allow lists of accounts.",
    "The commands “mailkind block” and “mailkind allow” change the same lists.",
  ],
  ownerLabel: "the operator",
}
