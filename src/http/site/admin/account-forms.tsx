/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import { noteFingerprint } from "../../../customers/accounts/operator-note.ts"
import { pathWithId } from "../links.ts"
import { ActionButton, Confirmation, LinkButton, TextArea, TextField, Timestamp, VERBATIM } from "../ui/forms.tsx"
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

type NotePanelProps = { readonly account: Account; readonly note: string; readonly rejected: RejectedNote | undefined }

/** The note of the operator about an account. */
export const NotePanel = ({ account: { id }, note, rejected }: NotePanelProps) => (
  <Panel title="Note">
    <form class="form" method="post" action={pathWithId("postAdminNote", id)}>
      <input type="hidden" name="seen" value={noteFingerprint(note)} />
      <TextArea
        name="note"
        label="About this account"
        value={rejected?.typed ?? note}
        error={rejected?.message ?? null}
        hint="Only administrators see it here, and the owner's data export has it. We remove what looks like an email address."
      />
      <button type="submit" class="small">
        Save the note
      </button>
    </form>
  </Panel>
)

type AccountActionsProps = {
  readonly account: Account
  /** A reason that was refused because it is too long. */
  readonly rejectedReason: string | undefined
}

/** Beside the title: a button that opens the form for the suspension, and the way to the deletion. */
export const AccountActions = ({ account: { id, suspendedAtMs }, rejectedReason }: AccountActionsProps) => (
  <div class="actions">
    {suspendedAtMs !== undefined ? null : (
      <details class="opener" open={rejectedReason !== undefined}>
        <summary class="button small danger">Suspend…</summary>
        <Confirmation path={pathWithId("postAdminSuspension", id)} label="Suspend the account">
          <p>
            All keys are refused within {LIMITS.revocationSecondsMax} seconds. The owner can still sign in and read. You
            can resume the account at any time.
          </p>
          <TextArea
            name="reason"
            label="Reason (optional)"
            value={rejectedReason ?? ""}
            error={rejectedReason === undefined ? null : "This reason is too long."}
            hint={`The owner reads it in an email and on the dashboard. Up to ${LIMITS.suspensionReasonLengthMax} characters. We remove what looks like an email address.`}
          />
        </Confirmation>
      </details>
    )}
    <LinkButton path={pathWithId("adminAccountDeletion", id)} label="Delete…" look="small danger" />
  </div>
)

type SuspensionNoticeProps = { readonly account: Account; readonly note: string }

/** Since when and why an account is suspended, what was noted about it, and the button that resumes it. */
export function SuspensionNotice({ account: { id, suspendedAtMs, suspensionReason }, note }: SuspensionNoticeProps) {
  if (suspendedAtMs === undefined) return null
  const resume = <ActionButton path={pathWithId("postAdminResumption", id)} label="Resume the account" look="quiet" />
  return (
    <Notice tone="block" action={resume}>
      <strong>Suspended</strong> since <Timestamp atMs={suspendedAtMs} />. Its keys are refused.
      {suspensionReason ? <p class="any">Reason: {suspensionReason}</p> : null}
      {note === "" ? null : <p class="any">Note: {note}</p>}
    </Notice>
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
    <AdminLayout route="adminAccountDeletion" section="adminAccounts" title={`Delete ${email}?`}>
      <Confirmation
        path={pathWithId("postAdminAccountDeletion", id)}
        label="Delete the account"
        cancelPath={pathWithId("adminAccount", id)}
      >
        <p>You cannot undo this. To block the account temporarily, suspend it instead.</p>
        <ul>
          <li>Its keys stop working on every server within {LIMITS.revocationSecondsMax} seconds.</li>
          <li>Its email, keys, usage, lists, reports, emails and sessions are deleted. The owner gets no email.</li>
          <li>Corrections that came from its reports stay. The audit log keeps its random id and yours.</li>
          {suspendedAtMs === undefined ? null : (
            <li>
              It is suspended. A new account with the same email is suspended too, for {LIMITS.formerSuspensionDays}{" "}
              days. We keep a hash of the email for that.
            </li>
          )}
        </ul>
        <TextField
          name="email"
          label="Type the email of the account to confirm"
          value={rejected ?? ""}
          maxLength={LIMITS.addressBytesMax}
          required
          error={rejected === null ? null : "This is not the email of the account. Nothing was deleted."}
          placeholder={email}
          {...VERBATIM}
        />
      </Confirmation>
    </AdminLayout>
  )
}
