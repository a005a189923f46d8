/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { OWNER_EMAIL } from "../../../customers/keys/first-account.ts"
import { CodeBlock, Table } from "../ui/layout.tsx"
import { type ExampleFacts, rotationText } from "./examples.ts"
import { GuidePage, grouped, To } from "./guide-page.tsx"

/** The kinds of keys, how they are sent and kept, and how one is exchanged. */
export function KeysPage({ facts }: { readonly facts: ExampleFacts }) {
  return (
    <GuidePage route="docsKeys">
      <p class="lead">A secret key is for servers, a publishable one for pages. Both can be exchanged without a gap.</p>
      <Kinds />
      <h2 id="sending">Sending it</h2>
      <p>
        In the header <code>Authorization: Bearer …</code>, or in <code>X-API-Key</code>; never in the URL, where it
        would stand in logs and histories. Two different keys in the two headers are refused with{" "}
        <To page="docsErrors" part="invalid_key">
          <code>invalid_key</code>
        </To>
        .
      </p>
      <Keeping />
      <h2 id="rotation">Exchanging a key</h2>
      <ol>
        <li>Create a new key. Both work.</li>
        <li>Deploy it everywhere the old one is used.</li>
        <li>
          See in <code>{ROUTES.getUsage.path}</code> (<code>today.by_key</code>) or in the dashboard that only the new
          one is used.
        </li>
        <li>
          Revoke the old one. It stops at once, and everywhere within {LIMITS.revocationSecondsMax} seconds; requests
          with it get{" "}
          <To page="docsErrors" part="key_revoked">
            <code>key_revoked</code>
          </To>
          .
        </li>
      </ol>
      <p>
        The <To page="dashboard">dashboard</To> does all of it: sign in with your email address, make the new key under
        Keys, and revoke the old one on its own page. On the server itself the commands do it too, while it runs:
      </p>
      <CodeBlock caption="rotate-keys.sh" code={rotationText(OWNER_EMAIL, facts)} />
      <h2 id="lost">A key is out</h2>
      <p>
        Create the new key first, then revoke the one that is out: a gap of a minute is a gap in your sign-ups, unless
        they <To page="docsDegraded">fail open</To>. Look in the usage of the days since for what it was used for.
      </p>
    </GuidePage>
  )
}

function Kinds() {
  const { publishablePerSecond, publishableClientPerSecond, publishableUnitsPerDay } = LIMITS
  return (
    <>
      <h2 id="kinds">Two kinds</h2>
      <Table caption="Kinds of keys" columns={["What", "Secret", "Publishable"]}>
        <KindRow what="Begins with" secret={<code>svc_live_</code>} publishable={<code>svc_pub_</code>} />
        <KindRow what="Belongs" secret="in the environment of a server" publishable="in the pages of your origins" />
        <KindRow
          what="May ask"
          secret={
            <>
              everything below <code>/v1</code>
            </>
          }
          publishable={<code>{ROUTES.postCheck.path}</code>}
        />
        <KindRow what="Is answered" secret="the whole result" publishable="a reduced one" />
        <KindRow what="Origin" secret="is not looked at" publishable="must be one that the key allows" />
        <KindRow
          what="Limits"
          secret="those of the account's tier"
          publishable={`${publishablePerSecond} requests a second, ${publishableClientPerSecond} of one client address, ${grouped(publishableUnitsPerDay)} units a day`}
        />
      </Table>
      <p>
        Anybody can copy a publishable key out of your page and forge an origin. It decides nothing:{" "}
        <To page="docsSignUpForms">your server does</To>.
      </p>
    </>
  )
}

type Kind = {
  readonly what: string
  readonly secret: preact.ComponentChildren
  readonly publishable: preact.ComponentChildren
}

const KindRow = ({ what, secret, publishable }: Kind) => (
  <tr>
    <th scope="row">{what}</th>
    <td>{secret}</td>
    <td>{publishable}</td>
  </tr>
)

function Keeping() {
  return (
    <>
      <h2 id="keeping">Keeping it</h2>
      <ul>
        <li>An account has up to {LIMITS.keysPerAccountMax} active keys: give each program its own, with a name.</li>
        <li>
          A key is shown once, when it is created. Here only its SHA-256 and last four characters are kept, so nobody
          can tell it to you again.
        </li>
        <li>
          Every key ends in a checksum. One that was mistyped or cut is told apart from one that is unknown, and costs
          no look-up.
        </li>
        <li>
          A secret key that is pushed to a public repository and reported by its host is revoked at once, and its owner
          is written to.
        </li>
      </ul>
    </>
  )
}
