/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import { EXPORTED_LISTS, EXPORTED_MEMBERS } from "../../../customers/accounts/account-export.ts"
import type { Account } from "../../../customers/accounts/accounts.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { Instant } from "../fields.tsx"
import { Table } from "../layout.tsx"
import { grouped } from "./own-list-words.tsx"

type Props = { readonly account: Account; readonly limits: TierLimits | null }

/** Who the account is, what it may do, and which terms it has accepted. */
export function AccountFacts({ account, limits }: Props) {
  const { email, tier, createdAtMs } = account
  return (
    <dl class="facts">
      <div>
        <dt>Email</dt>
        <dd class="any">{email}</dd>
      </div>
      <div>
        <dt>Member since</dt>
        <dd>
          <Instant atMs={createdAtMs} />
        </dd>
      </div>
      <div>
        <dt>Tier</dt>
        <dd>
          {TIERS[tier]?.name ?? `${tier}`}: {limits === null ? "unknown limits" : limitWords(limits)}
        </dd>
      </div>
      <div>
        <dt>Terms</dt>
        <dd>
          <AcceptedTerms account={account} />
        </dd>
      </div>
    </dl>
  )
}

/** What a tier allows, in words. */
function limitWords({ requestsPerSecond, inFlight, unitsPerDay }: TierLimits): string {
  return [
    requestsPerSecond === null ? "any number of requests" : `${grouped(requestsPerSecond)} requests a second`,
    inFlight === null ? "any number at a time" : `${grouped(inFlight)} at a time`,
    unitsPerDay === null ? "no daily quota" : `${grouped(unitsPerDay)} units a day`,
    `${LIMITS.keysPerAccountMax} keys`,
  ].join(", ")
}

function AcceptedTerms({ account: { acceptedTermsVersion, acceptedTermsAtMs } }: Pick<Props, "account">) {
  if (acceptedTermsAtMs === null) return <>none accepted yet</>
  if (acceptedTermsVersion === null) return <>none were published when the account was made</>
  return (
    <>
      version {acceptedTermsVersion}, accepted <Instant atMs={acceptedTermsAtMs} />
    </>
  )
}

/** What is kept about the account, as a file. */
export function ExportSection() {
  return (
    <section aria-labelledby="export">
      <h2 id="export">Your data</h2>
      <p>
        Take everything that is kept about your account with you, as one JSON file. Addresses that you checked are not
        in it: they are never kept.
      </p>
      <p class="actions">
        <a class="button small" href={ROUTES.accountExport.path} download>
          Download everything
        </a>
      </p>
      <Table caption="What the file holds" columns={["Member", "Holds"]}>
        {Object.entries({ ...EXPORTED_MEMBERS, ...EXPORTED_LISTS }).map(([name, { says }]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{says}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
