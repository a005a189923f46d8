/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Session } from "../../../customers/sign-in/sessions.ts"
import { ActionButton, Done, Instant, Refused } from "../fields.tsx"
import { Table } from "../layout.tsx"
import { type DeletionRefusal, DeletionSection } from "./account-deletion.tsx"
import { AccountFacts, ExportSection } from "./account-facts.tsx"
import type { AccountView } from "./account-view.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** What may have been done just before the page is shown, by its name in the page's URL. */
export const ACCOUNT_DEEDS = {
  "session-ended": "That browser is signed out.",
  "sessions-ended": "All other browsers are signed out.",
  "terms-accepted": "Thank you. The terms are accepted, and your keys work.",
  "terms-settled": "There are no terms left to accept.",
} as const satisfies Record<string, string>

type Props = {
  readonly view: AccountView
  readonly done: string | null
  /** What kept terms from being accepted; null: nothing. */
  readonly refused?: string | null
  readonly deletion?: DeletionRefusal | null
}

/** Who the account is, which browsers are signed in, what is kept, and the way to be rid of it. */
export function AccountPage({ view, done, refused = null, deletion = null }: Props) {
  const { visitor, limits, sessions } = view
  return (
    <DashboardLayout route="account" title="Account" visitor={visitor}>
      <Done says={done} />
      <Refused says={refused} />
      <AccountFacts account={visitor.account} limits={limits} />
      <SessionsSection sessions={sessions} ownId={visitor.session.id} />
      <ExportSection />
      <DeletionSection visitor={visitor} refusal={deletion} />
    </DashboardLayout>
  )
}

function SessionsSection({ sessions, ownId }: { readonly sessions: readonly Session[]; readonly ownId: string }) {
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Browsers that are signed in</h2>
      <p>Each stays signed in for {LIMITS.sessionDays} days. If you do not know one of them, sign it out.</p>
      <Table caption="Browsers that are signed in" columns={["Browser", "Signed in", "Last seen", ""]}>
        {sessions.map(session => (
          <tr key={session.id}>
            <th scope="row">{session.agent}</th>
            <td>
              <Instant atMs={session.createdAtMs} />
            </td>
            <td>
              <Instant atMs={session.seenAtMs} />
            </td>
            <td>
              {session.id === ownId ? (
                "this one"
              ) : (
                <ActionButton
                  path={ROUTES.postSessionEnd.path}
                  fields={{ session: session.id }}
                  label="Sign out"
                  about={session.agent}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
      {sessions.length > 1 ? <ActionButton path={ROUTES.postSessionEnd.path} label="Sign out all others" /> : null}
    </section>
  )
}
