/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import type { Invitation, InvitationRefusal } from "../../../customers/sign-in/invitations.ts"
import type { SignedInUser } from "../guards.ts"
import { pathWithId } from "../links.ts"
import { ActionButton, SelectField, TextField, Timestamp } from "../ui/forms.tsx"
import { Table } from "../ui/layout.tsx"
import { AdminLayout } from "./admin-layout.tsx"
import { tierLabel, tierOptions } from "./tier-labels.ts"

/** The values of a rejected form for an invitation, and the reason. */
export type RejectedInvitation = { readonly email: string; readonly tier: string; readonly reason: InvitationRefusal }

const ERRORS: { readonly [K in InvitationRefusal]: { readonly field: "email" | "tier"; readonly message: string } } = {
  malformed_email: { field: "email", message: "Enter a valid email address." },
  email_taken: { field: "email", message: "An account with this email exists already." },
  unknown_tier: { field: "tier", message: "Choose one of the tiers." },
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
  const errorAt = (field: "email" | "tier") => (error?.field === field ? error.message : null)
  return (
    <section aria-labelledby="invite">
      <h2 id="invite">Invite somebody</h2>
      <p>
        The link of an invitation works once, within {LIMITS.invitationDays} days, also while sign-up is closed. Who
        opens it accepts the terms and gets the account. If no mail server is set, we show you the link.
      </p>
      <form class="form" method="post" action={ROUTES.postAdminInvitation.path}>
        <TextField
          name="invited-email"
          label="Email"
          type="email"
          required
          maxLength={LIMITS.addressBytesMax}
          autocomplete="off"
          value={rejected?.email ?? ""}
          error={errorAt("email")}
        />
        <SelectField
          name="invited-tier"
          label="Tier"
          options={tierOptions(tiers)}
          selected={rejected?.tier ?? String(defaultTier)}
          error={errorAt("tier")}
        />
        <button type="submit">Invite</button>
      </form>
      {invitations.length === 0 ? null : <InvitationTable invitations={invitations} />}
    </section>
  )
}

function InvitationTable({ invitations }: Pick<InvitationSectionProps, "invitations">) {
  return (
    <>
      <p>We do not store the addresses that are invited. To end an invitation by its address, invite it again.</p>
      <Table caption="Invitations" columns={["Invitation", "Tier", "Created", "Ends", ""]}>
        {invitations.map(({ id, tier, createdAtMs, endsAtMs }) => (
          <tr key={id}>
            <th scope="row">
              <code>{id}</code>
            </th>
            <td>{tierLabel(tier)}</td>
            <td>
              <Timestamp atMs={createdAtMs} />
            </td>
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
  readonly user: SignedInUser
  readonly email: string
  readonly link: string
  /** Whether a mail server is set, which did not take the mail. */
  readonly hasMailServer: boolean
}

/** The link of a new invitation that was not mailed. It is shown only here. */
export function InvitationLinkPage({ user, email, link, hasMailServer }: InvitationLinkPageProps) {
  return (
    <AdminLayout route="adminAccounts" section="adminAccounts" title="Send the invitation" user={user}>
      <p class="lead">
        {hasMailServer ? "The mail server did not take our mail." : "This server cannot send email."} Send this link to{" "}
        <strong>{email}</strong> yourself:
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
