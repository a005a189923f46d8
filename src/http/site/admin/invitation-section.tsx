/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { Invitation, InvitationRefusal } from "../../../customers/sign-in/invitations.ts"
import { pathWithId } from "../links.ts"
import { ActionButton, Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/table.tsx"
import { ACCOUNT_FIELD_ERRORS, type AccountFieldError, AccountFields } from "./account-fields.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { tierLabel } from "./tier-labels.ts"

/** The values of a rejected form for an invitation, and the reason. */
export type RejectedInvitation = { readonly email: string; readonly tier: string; readonly reason: InvitationRefusal }

const ERRORS: Readonly<Record<InvitationRefusal, AccountFieldError>> = {
  ...ACCOUNT_FIELD_ERRORS,
  too_many_invitations: {
    field: "email",
    message: `There are ${LIMITS.invitationsMax} invitations already. Revoke some, or wait until they end.`,
  },
}

type InvitationSectionProps = {
  readonly invitations: readonly Invitation[]
  readonly tiers: readonly TierLimits[]
  readonly defaultTier: number
  /** Null: no form was rejected. */
  readonly rejected: RejectedInvitation | null
}

/** The form that invites an address, and the invitations that are valid now. */
export function InvitationSection({ invitations, tiers, defaultTier, rejected }: InvitationSectionProps) {
  const error = rejected && ERRORS[rejected.reason]
  return (
    <section aria-labelledby="invite">
      <h2 id="invite">Invite a person</h2>
      <p>
        An invitation link works once, within {LIMITS.invitationDays} days, even while sign-up is closed. The person who
        accepts it agrees to the terms and gets the account. If no mail server is set, we show you the link.
      </p>
      <form class="form" method="post" action={ROUTES.postAdminInvitation.path}>
        <AccountFields emailName="invited-email" tierName="invited-tier" {...{ tiers, defaultTier, rejected, error }} />
        <button type="submit">Invite</button>
      </form>
      {invitations.length === 0 ? null : <InvitationTable invitations={invitations} />}
    </section>
  )
}

function InvitationTable({ invitations }: Pick<InvitationSectionProps, "invitations">) {
  return (
    <>
      <p>
        The addresses are stored encrypted, and only the links can decrypt them. To replace an invitation, invite the
        address again.
      </p>
      <Table caption="Invitations" columns={["Invitation", "Tier", "Ends", ""]}>
        {invitations.map(({ id, tier, endsAtMs }) => (
          <tr key={id}>
            <th scope="row">
              <code>{id}</code>
            </th>
            <td>{tierLabel(tier)}</td>
            <td>
              <Timestamp atMs={endsAtMs} />
            </td>
            <td>
              <ActionButton path={pathWithId("postAdminInvitationRevocation", id)} label="Revoke" />
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

type InvitationLinkPageProps = {
  readonly email: string
  readonly link: string
  /** Whether a mail server is set, which did not take the mail. */
  readonly hasMailServer: boolean
}

/** The link of a new invitation that was not mailed. It is shown only here. */
export function InvitationLinkPage({ email, link, hasMailServer }: InvitationLinkPageProps) {
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Send the invitation">
      <p class="lead">
        {hasMailServer ? "The mail server did not accept our email." : "This server cannot send email."} Send this link
        to <strong>{email}</strong> yourself:
      </p>
      <div class="secret">
        <code class="copied">{link}</code>
      </div>
      <p class="told">
        Copy the link now. You cannot see it again. Anyone who opens it gets the account. It works once, within{" "}
        {LIMITS.invitationDays} days.
      </p>
      <p>
        <a href={ROUTES.adminAccounts.path}>Back to the accounts</a>
      </p>
    </AdminLayout>
  )
}
