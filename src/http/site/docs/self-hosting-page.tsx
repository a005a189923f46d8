/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { OWNER_EMAIL } from "../../../customers/keys/first-account.ts"
import { Prose, Sample, Table } from "../layout.tsx"
import { GuidePage, To } from "./guide-page.tsx"

/** One setting as it is told: its default in words, and what it means. */
export type ShownSetting = { readonly name: string; readonly default: string; readonly says: string }

/** The commands of the page, each as it is written in a shell. */
const COMMANDS = {
  start: "./mailkind serve",
  workers: "./mailkind serve --workers auto",
  account: `mailkind account create you@example.com --tier 4
mailkind key create --account you@example.com --name "Server"`,
  looks: `mailkind lists info
mailkind lists lookup mailinator.com
mailkind help settings`,
} as const

/** How to run a server of one's own, with every setting. */
export function SelfHostingPage({ settings }: { readonly settings: readonly ShownSetting[] }) {
  return (
    <GuidePage route="docsSelfHosting">
      <p class="lead">One executable with its lists inside, one directory for what it keeps.</p>
      <h2 id="start">The start</h2>
      <p>
        <code>bun run build</code> makes the executable <code>dist/mailkind</code> from the sources; it needs nothing
        beside it. Put it on a machine and start it:
      </p>
      <Sample caption="Shell" code={COMMANDS.start} />
      <p>
        The first start on an empty data directory creates the account <code>{OWNER_EMAIL}</code> without limits and
        prints its key, this once. Ctrl-C and SIGTERM answer what is in flight, write what is held, and end with code 0.
        SIGHUP has it take the lists anew. With more than one core let it use them all:
      </p>
      <Sample caption="Shell" code={COMMANDS.workers} />
      <h2 id="accounts">Accounts and keys</h2>
      <Sample caption="Shell" code={COMMANDS.account} />
      <p>
        Commands work beside the server, on the same data directory and with the same settings. They take{" "}
        <code>--json</code>, and end with 0 when they are done, 1 when they failed and 2 when they were used wrongly.
      </p>
      <Sample caption="Shell" code={COMMANDS.looks} />
      <Outside />
      <Supervised />
      <h2 id="settings">Settings</h2>
      <p>
        Environment variables, read once at the start. An unknown <code>MAILKIND_*</code> name or a bad value stops it
        with every fault told and exit code 2.
      </p>
      <Table caption="Settings" columns={["Name", "Meaning", "Default"]}>
        {settings.map(({ name, default: fallback, says }) => (
          <tr key={name} id={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <Prose text={says} />
            </td>
            <td>
              <Prose text={fallback} />
            </td>
          </tr>
        ))}
      </Table>
    </GuidePage>
  )
}

function Outside() {
  return (
    <>
      <h2 id="proxy">Behind a proxy</h2>
      <ul>
        <li>
          The server listens on loopback and speaks HTTP. A proxy in front of it has the certificate;{" "}
          <Setting name="MAILKIND_BASE_URL" /> is the address that the outside sees, and with <code>https://</code> it
          has browsers stay there.
        </li>
        <li>
          Name the proxy in <Setting name="MAILKIND_TRUSTED_PROXIES" />, or every visitor has the proxy's address, and
          its limits.
        </li>
        <li>
          Let it send the body as it is, keep connections to the server open, and wait longer than{" "}
          <Setting name="MAILKIND_CHECK_TIMEOUT_MS" />.
        </li>
        <li>
          Have it ask <code>{ROUTES.getHealth.path}</code>: 200 while it serves, 503 while it shuts down. It never waits
          on the network.
        </li>
      </ul>
      <h2 id="network">What it asks of the network</h2>
      <p>
        DNS by UDP and TCP, which is what most verdicts rest on: give it a resolver nearby, in{" "}
        <Setting name="MAILKIND_DNS_SERVERS" />. HTTPS to the identity endpoints, to registries and to the sources of
        the lists, each with a setting of its own. Without any network it works, from lists alone (
        <To page="docsDegraded">degraded</To>).
      </p>
    </>
  )
}

function Supervised() {
  return (
    <>
      <h2 id="unit">As a unit of systemd</h2>
      <ul>
        <li>A user of its own without a shell, and no rights beside those to listen and to ask.</li>
        <li>
          The whole file system read-only but for <Setting name="MAILKIND_DATA_DIR" />, which it creates for its user
          alone.
        </li>
        <li>
          Settings in an environment file that its user alone can read: <Setting name="MAILKIND_SMTP_URL" /> may hold a
          password.
        </li>
        <li>
          Restarted when it fails, stopped by SIGTERM, reloaded by SIGHUP, with enough open files for its connections.
        </li>
      </ul>
      <h2 id="container">In a container</h2>
      <ul>
        <li>The executable alone on a small base with the C library and the certificates of authorities.</li>
        <li>
          Not as root, with a read-only root, and a volume for the data directory. <Setting name="MAILKIND_HOST" /> is{" "}
          <code>0.0.0.0</code> there: a container's loopback is its own.
        </li>
        <li>One container a data directory: several processes may share it on one host, hosts may not share it.</li>
      </ul>
    </>
  )
}

/** A setting by its name, with the way to its row. */
const Setting = ({ name }: { readonly name: `MAILKIND_${string}` }) => (
  <a href={`#${name}`}>
    <code>{name}</code>
  </a>
)
