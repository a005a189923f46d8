/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import { noteFingerprint } from "../../../customers/accounts/operator-note.ts"
import { pathWithId } from "../links.ts"
import { formatNumber } from "../ui/format.ts"
import { ActionButton, TextArea, TextField } from "../ui/forms.tsx"
import { Notice, Panel } from "../ui/panels.tsx"
import { AdminLayout } from "./admin-layout.tsx"

/** The forms of an account's page that were refused, with what was typed. Absent: the form was not sent, or not refused. */
export type RejectedAdminForms = {
  readonly tierError?: string
  /** A reason that is too long. */
  readonly reason?: string
  readonly note?: RejectedNote
}

type RejectedNote = { readonly typed: string; readonly message: string }

type NotePanelProps = { readonly account: Account; readonly note: string; readonly rejected: RejectedNote | null }

/** The note of the operator about an account. */
export function NotePanel({ account: { id }, note, rejected }: NotePanelProps) {
  return (
    <Panel title="Note">
      <form class="form" method="post" action={pathWithId("postAdminNote", id)}>
        <input type="hidden" name="seen" value={noteFingerprint(note)} />
        <TextArea
          name="note"
          label="Your note about this account"
          value={rejected?.typed ?? note}
          error={rejected?.message ?? null}
          hint={`Only administrators see it here. It is part of the owner's data export. Up to ${formatNumber(LIMITS.operatorNoteLengthMax)} characters. We remove anything that looks like an email address.`}
        />
        <button type="submit" class="small">
          Save the note
        </button>
      </form>
    </Panel>
  )
}

type SuspensionPanelProps = {
  readonly account: Account
  /** A reason that was refused because it is too long; null: none was. */
  readonly rejectedReason: string | null
}

/** Suspends the account, or resumes it. */
export function SuspensionPanel({ account: { id, suspendedAtMs }, rejectedReason }: SuspensionPanelProps) {
  if (suspendedAtMs !== undefined) {
    return (
      <Panel title="Suspended">
        <p>All keys that are not revoked or expired work again. The owner gets an email.</p>
        <ActionButton path={pathWithId("postAdminResumption", id)} label="Resume the account" isPrimary />
      </Panel>
    )
  }
  return (
    <Panel title="Suspend">
      <p>
        We refuse all of its keys, on every server within {LIMITS.revocationSecondsMax} seconds. The owner can sign in
        and read, and gets an email. You can resume the account at any time.
      </p>
      <form class="form" method="post" action={pathWithId("postAdminSuspension", id)}>
        <TextArea
          name="reason"
          label="Reason (optional)"
          value={rejectedReason ?? ""}
          error={rejectedReason === null ? null : "This reason is too long."}
          hint={`The owner sees it in the email and on the dashboard. Up to ${LIMITS.suspensionReasonLengthMax} characters. We remove anything that looks like an email address.`}
        />
        <button type="submit" class="danger small">
          Suspend the account
        </button>
      </form>
    </Panel>
  )
}

/** The link to the page that asks before it deletes. */
export function DeletionLink({ account: { id } }: { readonly account: Account }) {
  return (
    <Panel title="Delete">
      <p>
        <a class="button small danger" href={pathWithId("adminAccountDeletion", id)}>
          Delete the account…
        </a>
      </p>
    </Panel>
  )
}

type AccountDeletionPageProps = {
  readonly account: Account
  /** What was typed and is not the account's email; null: nothing was sent. */
  readonly rejected: string | null
}

/** Asks for the email of an account before the account is deleted, which cannot be undone. */
export function AdminAccountDeletionPage({ account, rejected }: AccountDeletionPageProps) {
  const { id, email, suspendedAtMs } = account
  return (
    <AdminLayout route="adminAccountDeletion" section="adminAccounts" title="Delete an account">
      <Notice tone="review">You cannot undo this. To block the account temporarily, suspend it instead.</Notice>
      <ul>
        <li>Its keys stop working on every server within {LIMITS.revocationSecondsMax} seconds.</li>
        <li>Its email, keys, usage, lists, reports, emails and sessions are deleted. The owner gets no email.</li>
        <li>Corrections that came from its reports stay. So do its random id and yours in the audit log.</li>
        {suspendedAtMs === undefined ? null : (
          <li>
            It is suspended. A new account with the same email is suspended too, for {LIMITS.formerSuspensionDays} days.
            We keep a hash of the email for that.
          </li>
        )}
      </ul>
      <form class="form" method="post" action={pathWithId("postAdminAccountDeletion", id)}>
        <TextField
          name="email"
          label="Type the email of the account to confirm"
          value={rejected ?? ""}
          maxLength={LIMITS.addressBytesMax}
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          error={rejected === null ? null : "This is not the email of the account. Nothing was deleted."}
          hint={`It is ${email}.`}
        />
        <div class="actions">
          <button type="submit" class="danger">
            Delete the account
          </button>
          <a class="button small" href={pathWithId("adminAccount", id)}>
            Cancel
          </a>
        </div>
      </form>
    </AdminLayout>
  )
}
