/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { EXPORTED_LISTS, EXPORTED_MEMBERS } from "../../../customers/accounts/account-export.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import { readMutedNotices } from "../../../customers/accounts/mail-switches.ts"
import { OWNER_EMAIL } from "../../../customers/keys/first-account.ts"
import { MAIL_SWITCHES_ANCHOR, NOTICES, type NoticeKind, OPTIONAL_NOTICES } from "../../../customers/notices/notices.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { listSessions, type Session } from "../../../customers/sign-in/sessions.ts"
import type { SignedInUser } from "../guards.ts"
import type { SiteContext } from "../site-context.ts"
import { formatCount, formatLimit } from "../ui/format.ts"
import {
  ActionButton,
  Confirmation,
  DateStamp,
  FlashMessage,
  FormError,
  LinkButton,
  TextField,
  Timestamp,
  VERBATIM,
} from "../ui/forms.tsx"
import { DescriptionList, Layout, MoreUnitsLink } from "../ui/layout.tsx"
import { Panel } from "../ui/panels.tsx"
import { Table, type TableColumn } from "../ui/table.tsx"
import { DashboardLayout } from "./dashboard-layout.tsx"

/** The flash messages of the page, by the name in its URL. */
export const ACCOUNT_FLASH = {
  "emails-saved": "Your choice of emails is saved.",
  "session-ended": "That browser is signed out.",
  "sessions-ended": "All other browsers are signed out.",
  "terms-accepted": "Thank you. You accepted the terms, and your keys work.",
  "terms-settled": "There are no terms left to accept.",
} as const satisfies Record<string, string>

type AccountPageProps = {
  readonly data: AccountPageData
  readonly flash: string | null
  /** Why the terms were not accepted; null: nothing was refused. */
  readonly error?: string | null
  readonly rejectedDeletion?: RejectedDeletion | null
}

/** The account: its data, its sessions, the export, and the deletion. */
export function AccountPage({ data, flash, error = null, rejectedDeletion = null }: AccountPageProps) {
  const { user, limits, sessions, mutedNotices, keepHours } = data
  return (
    <DashboardLayout route="account" title="Account" user={user}>
      <FlashMessage message={flash} />
      <FormError message={error} />
      <div class="two">
        <AccountSummary account={user.account} />
        <LimitsSummary tier={user.account.tier} limits={limits} />
      </div>
      <SessionsSection sessions={sessions} ownId={user.session.id} />
      <MailSwitchesSection muted={mutedNotices} />
      <ExportSection keepHours={keepHours} />
      <DeletionSection user={user} rejected={rejectedDeletion} />
    </DashboardLayout>
  )
}

const SESSION_COLUMNS: readonly TableColumn[] = [
  { name: "Browser", kind: "text" },
  { name: "Signed in", kind: "time", onPhone: "labelled" },
  { name: "Last seen", kind: "time", onPhone: "labelled" },
  { name: "", kind: "actions", onPhone: "first" },
]

function SessionsSection({ sessions, ownId }: { readonly sessions: readonly Session[]; readonly ownId: string }) {
  return (
    <Panel id="sessions" title="Active sessions">
      <Table caption="Active sessions" columns={SESSION_COLUMNS}>
        {sessions.map(session => (
          <tr key={session.id}>
            <th scope="row">
              <bdi>{session.agent}</bdi>
            </th>
            <td>
              <Timestamp atMs={session.createdAtMs} />
            </td>
            <td>
              <Timestamp atMs={session.seenAtMs} />
            </td>
            <td>
              {session.id === ownId ? (
                "this browser"
              ) : (
                <ActionButton
                  path={ROUTES.postSessionEnd.path}
                  fields={{ session: session.id }}
                  label="Sign out"
                  hiddenLabel={session.agent}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
      <p class="hint">
        A session lasts {LIMITS.sessionDays} days.
        {sessions.length > 1 ? " Sign out any that you do not recognise." : ""}
      </p>
      {sessions.length > 1 ? <ActionButton path={ROUTES.postSessionEnd.path} label="Sign out all others" /> : null}
    </Panel>
  )
}

/** The input that did not confirm the deletion, because it was not the account's email. */
type RejectedDeletion = { readonly input: string }

type DeletionSectionProps = { readonly user: SignedInUser; readonly rejected: RejectedDeletion | null }

/** What the deletion removes, what remains, and its form. */
function DeletionSection({ user: { account, isAdmin }, rejected }: DeletionSectionProps) {
  return (
    <Confirmation
      path={ROUTES.postAccountDeletion.path}
      label="Delete my account"
      question="Delete your account?"
      id="delete"
      isOpen={rejected !== null}
    >
      <ul>
        <li>All keys stop working, and all browsers are signed out. You cannot undo this.</li>
        <li>Your email address, keys, usage, request log, lists, reports, emails and sessions are deleted.</li>
        <li>
          Corrections from your reports stay, without your name. So do random ids of your account and keys in the logs
          of changes and of what administrators did. If your account is suspended, a hash of your email stays too.
        </li>
        <li>Backups that the operator keeps are not deleted.</li>
        {isAdmin ? (
          <li>
            You are an administrator because the server's settings name your address. This does not change the settings:
            if you sign in with this address later, you are an administrator again.
          </li>
        ) : null}
        {account.email === OWNER_EMAIL ? (
          <li>
            This is the account that the first start of the server made. If no other account is left, the next start
            makes it again, with a new key; otherwise it stays deleted.
          </li>
        ) : null}
      </ul>
      <TextField
        name="email"
        label="Type your email address to confirm"
        value={rejected?.input ?? ""}
        maxLength={LIMITS.addressBytesMax}
        required
        {...VERBATIM}
        error={rejected === null ? null : "This is not the address of your account. Nothing was deleted."}
        placeholder={account.email}
      />
    </Confirmation>
  )
}

/** Confirms the deletion. */
export function AccountDeletedPage() {
  return (
    <Layout route="home" title="Your account is deleted">
      <p class="lead">We refuse requests with its keys, and this browser is signed out.</p>
      <p>
        <a href={ROUTES.home.path}>Back to the home page</a>
      </p>
    </Layout>
  )
}

type AccountProps = { readonly account: Account }

const AccountSummary = ({ account }: AccountProps) => (
  <Panel title="Details">
    <DescriptionList
      isSpread
      items={[
        ["Email", <bdi class="any">{account.email}</bdi>],
        ["Member since", <DateStamp atMs={account.createdAtMs} />],
        ["Terms", <AcceptedTerms account={account} />],
      ]}
    />
  </Panel>
)

function AcceptedTerms({ account: { acceptedTermsVersion, acceptedTermsAtMs } }: AccountProps) {
  if (acceptedTermsAtMs === null) return <>none accepted yet</>
  if (acceptedTermsVersion === null) return <>none when you signed up</>
  return (
    <>
      version {acceptedTermsVersion}, accepted <DateStamp atMs={acceptedTermsAtMs} />
    </>
  )
}

type LimitsSummaryProps = {
  readonly tier: number
  /** Null when this server does not know the tier. */
  readonly limits: TierLimits | null
}

function LimitsSummary({ tier, limits }: LimitsSummaryProps) {
  const most = (limit: number | null | undefined): string => (limit === undefined ? "unknown" : formatLimit(limit))
  return (
    <Panel title="Limits" link={<MoreUnitsLink tier={tier} />}>
      <DescriptionList
        isSpread
        items={[
          ["Units per day", most(limits?.unitsPerDay)],
          ["Requests per second", most(limits?.requestsPerSecond)],
          ["Requests at once", most(limits?.inFlight)],
          ["Active keys", LIMITS.keysPerAccountMax],
        ]}
      />
    </Panel>
  )
}

/** Which of the optional emails the account wants. */
const MailSwitchesSection = ({ muted }: { readonly muted: ReadonlySet<NoticeKind> }) => (
  <Panel id={MAIL_SWITCHES_ANCHOR} title="Emails">
    <p class="hint">We always send emails about sign-ins, new, revoked and leaked keys, and new terms.</p>
    <form class="form" method="post" action={ROUTES.postMailSwitches.path}>
      <fieldset class="switches">
        <legend class="unseen">Emails that you want</legend>
        {OPTIONAL_NOTICES.map(kind => (
          <label class="check" key={kind}>
            <input type="checkbox" name="mail" value={kind} checked={!muted.has(kind)} />
            <span>
              {NOTICES[kind].title}
              <span class="hint">{NOTICES[kind].description}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <button type="submit">Save emails</button>
    </form>
  </Panel>
)

/** What we store, the export of all of it, and what the file contains. */
const ExportSection = ({ keepHours }: Pick<AccountPageData, "keepHours">) => (
  <Panel id="export" title="Your data" link={<a href={`${ROUTES.docsPrivacy.path}#kept`}>What we store</a>}>
    <p>
      A check stores no address. We keep a list that you upload, encrypted, for {formatCount(keepHours, "hour")} after
      its check, unless you delete it first. Everything else that we store about your account is in one JSON file.
    </p>
    <p class="actions">
      <LinkButton path={ROUTES.accountExport.path} label="Download your data" look="small" />
    </p>
    <details>
      <summary>What is in the file</summary>
      <Table caption="What is in the file" columns={["Member", "Holds"]}>
        {Object.entries({ ...EXPORTED_MEMBERS, ...EXPORTED_LISTS }).map(([name, { description }]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{description}</td>
          </tr>
        ))}
      </Table>
    </details>
  </Panel>
)

type AccountPageData = {
  readonly user: SignedInUser
  /** Null when this server does not know the account's tier. */
  readonly limits: TierLimits | null
  readonly sessions: readonly Session[]
  readonly mutedNotices: ReadonlySet<NoticeKind>
  /** How long a list stays after its end. */
  readonly keepHours: number
}

/** Reads what the page shows. */
export type ReadAccountPageData = (user: SignedInUser) => Promise<AccountPageData>

/** Builds the reader of the page's data. */
export function accountPageReader({ changes: { store, clock }, tiers, jobs }: SiteContext): ReadAccountPageData {
  return async user => ({
    user,
    limits: tiers[user.account.tier] ?? null,
    sessions: await listSessions(store, clock, user.account.id),
    mutedNotices: await readMutedNotices(store, user.account.id),
    keepHours: jobs.keepHours,
  })
}
