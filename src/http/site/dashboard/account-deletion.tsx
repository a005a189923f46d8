/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { OWNER_EMAIL } from "../../../customers/keys/first-account.ts"
import { TextField } from "../fields.tsx"
import { Layout } from "../layout.tsx"
import type { Visitor } from "../signed-in.ts"

/** What was typed to confirm the deletion, when it was not the account's email. */
export type DeletionRefusal = { readonly typed: string }

type Props = { readonly visitor: Visitor; readonly refusal: DeletionRefusal | null }

/** What the deletion of the account takes along, what stays, and the form that does it. */
export function DeletionSection({ visitor: { account, isAdmin }, refusal }: Props) {
  return (
    <section aria-labelledby="delete">
      <h2 id="delete">Delete the account</h2>
      <p>This happens at once and cannot be undone.</p>
      <ul>
        <li>All keys stop working, and all browsers are signed out.</li>
        <li>Your email address, keys, usage, lists, reports, mails and sessions are deleted.</li>
        <li>
          What stays: corrections that came of your reports, without a word of who reported them, and random ids of your
          account and keys in the log by which servers tell each other of changes.
        </li>
        <li>Whoever runs this server may have backups; they are not reached from here.</li>
        {isAdmin ? (
          <li>
            You are an administrator because the server's settings name your address. They are not changed by this:
            whoever signs in with this address later is an administrator again.
          </li>
        ) : null}
        {account.email === OWNER_EMAIL ? (
          <li>
            This is the account that the first start of the server made. If no other account is left, the next start
            makes it again, with a new key; otherwise nothing does.
          </li>
        ) : null}
      </ul>
      <form class="form" method="post" action={ROUTES.postAccountDeletion.path}>
        <TextField
          name="email"
          label="Type your email address to confirm"
          value={refusal?.typed ?? ""}
          maxLength={LIMITS.addressOctetsMax}
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          fault={refusal === null ? null : "That is not the address of this account. Nothing was deleted."}
          hint={`It is ${account.email}.`}
        />
        <button type="submit" class="danger">
          Delete my account
        </button>
      </form>
    </section>
  )
}

/** Says that the account is gone. */
export function DeletedPage() {
  return (
    <Layout route="home" title="Your account is deleted">
      <p class="lead">Its keys are refused from now on, and this browser is signed out.</p>
      <p>
        <a href={ROUTES.home.path}>Back to the first page</a>
      </p>
    </Layout>
  )
}
