/** @jsxImportSource preact */
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { Key } from "../../../customers/keys/keys.ts"
import { ActionButton } from "../fields.tsx"
import type { Visitor } from "../signed-in.ts"
import { AdminLayout, Facts } from "./admin-layout.tsx"
import { adminPaths } from "./paths.ts"

type Props = { readonly visitor: Visitor; readonly shown: Key; readonly account: Account }

/** Asks once more before a key is revoked, which cannot be undone. */
export function KeyRevocationPage({ visitor, shown, account }: Props) {
  const { id, name, kind, last4, revokedAtMs } = shown
  const back = adminPaths.account(account.id)
  return (
    <AdminLayout route="adminKeyRevocation" section="adminAccounts" title="Revoke a key" visitor={visitor}>
      <Facts
        facts={[
          ["Account", <a href={back}>{account.email}</a>],
          ["Name", name],
          ["Kind", kind],
          ["Ends in", <code>{last4}</code>],
        ]}
      />
      {revokedAtMs === null ? (
        <>
          <p>
            Requests with this key are refused from then on, and nobody can take that back. The account's owner gets a
            mail that says that an administrator did it.
          </p>
          <div class="actions">
            <ActionButton path={adminPaths.keyRevocation(id)} label="Revoke the key" isDangerous />
            <a class="button small" href={back}>
              Leave it
            </a>
          </div>
        </>
      ) : (
        <p>
          The key is revoked already. <a href={back}>Back to the account</a>
        </p>
      )}
    </AdminLayout>
  )
}
