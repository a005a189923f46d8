/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { OWNER_EMAIL } from "../../../customers/keys/first-account.ts"
import { CodeBlock, Prose, Table } from "../ui/layout.tsx"
import { type DeployFiles, DeploySection } from "./deploy-section.tsx"
import { GuidePage, To } from "./guide-page.tsx"
import { LookingAfterSection, type MetricsFiles, type ShownExamination } from "./looking-after-section.tsx"
import { Setting } from "./setting.tsx"

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

type Props = {
  readonly settings: readonly ShownSetting[]
  readonly examinations: readonly ShownExamination[]
  readonly deployFiles: DeployFiles
  readonly metricsFiles: MetricsFiles
}

/** How to run a server of one's own, with every setting. */
export function SelfHostingPage({ settings, examinations, deployFiles, metricsFiles }: Props) {
  return (
    <GuidePage route="docsSelfHosting">
      <p class="lead">One executable with its lists inside, one directory for what it keeps.</p>
      <h2 id="start">The start</h2>
      <p>
        <code>bun run build</code> makes the executable <code>dist/mailkind</code> from the sources; it needs nothing
        beside it. Put it on a machine and start it:
      </p>
      <CodeBlock caption="Shell" code={COMMANDS.start} />
      <p>
        The first start on an empty data directory creates the account <code>{OWNER_EMAIL}</code> without limits and
        prints its key, this once. Ctrl-C and SIGTERM answer what is in flight, write what is held, and end with code 0.
        With more than one core let it use them all:
      </p>
      <CodeBlock caption="Shell" code={COMMANDS.workers} />
      <h2 id="accounts">Accounts and keys</h2>
      <CodeBlock caption="Shell" code={COMMANDS.account} />
      <p>
        Commands work beside the server, on the same data directory and with the same settings. They take{" "}
        <code>--json</code>, and end with 0 when they are done, 1 when they failed and 2 when they were used wrongly.
      </p>
      <CodeBlock caption="Shell" code={COMMANDS.looks} />
      <Pages />
      <Outside />
      <LookingAfterSection examinations={examinations} files={metricsFiles} />
      <DeploySection files={deployFiles} />
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

function Pages() {
  return (
    <>
      <h2 id="pages">Signing in</h2>
      <p>
        People sign in at <To page="signIn">{ROUTES.signIn.path}</To> by a link or a code from a mail; there are no
        passwords. Without <Setting name="MAILKIND_SMTP_URL" /> both are written to the log instead, without the
        address: that is how you sign in as <code>{OWNER_EMAIL}</code>. Emails in <Setting name="MAILKIND_ADMINS" /> see{" "}
        <code>{ROUTES.admin.path}</code> too: accounts and their tiers, reports of wrong verdicts, terms.{" "}
        <Setting name="MAILKIND_FREE_CHECKS_PER_DAY" /> says how many checks the <To page="home">first page</To> gives
        to all its visitors a day, or that there is none.
      </p>
    </>
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
        <li>
          Connections that stand still are closed (
          <To page="docsLimits" part="connections">
            limits
          </To>
          ): have the proxy close its own sooner, and bound how many one client opens.
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
