/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { CodeBlock, Prose, Table } from "../ui/layout.tsx"
import { To } from "./guide-page.tsx"
import { Setting } from "./setting.tsx"

/** One thing that `doctor` looks at: its name, and what holds when it is well. */
export type ShownExamination = { readonly name: string; readonly says: string }

/** Where the dashboard for Grafana and the alerts for Prometheus are. */
export type MetricsFiles = { readonly dashboard: string; readonly alerts: string }

type Props = { readonly examinations: readonly ShownExamination[]; readonly files: MetricsFiles }

const LOOKS = `mailkind doctor
mailkind doctor --only dns clock
mailkind doctor --running --only port`

/** What `doctor` prints in an empty directory, with no setting set. */
export const PRINTED = {
  directory: "/srv/mailkind",
  command: "mailkind doctor --only settings directory smtp",
  text: `settings   ok       All that are set are known, and can be read.
directory  warning  /srv/mailkind/mailkind-data is not there.
                    → Nothing, if this host has not served yet: the first start makes it. Else set MAILKIND_DATA_DIR.
smtp       skipped  MAILKIND_SMTP_URL is not set: no mail is sent.`,
} as const

/** How to see whether a server is well: the doctor, metrics, the log, and what to do under load. */
export function LookingAfterSection({ examinations, files }: Props) {
  return (
    <>
      <h2 id="doctor">Is all well?</h2>
      <p>
        <code>doctor</code> looks at all that a server needs, before its first start or beside it while it runs, and
        changes nothing. Each line has a verdict: <code>ok</code>, <code>warning</code>, <code>failed</code> or{" "}
        <code>skipped</code>; what is not well has a second line that says what to do. It ends with code 1 when
        something has failed.
      </p>
      <CodeBlock caption="Shell" code={LOOKS} />
      <p>
        With <code>--running</code> a port that nobody answers on is a failure: the last line is the health check of the
        container below. With no setting set, in the empty directory <code>{PRINTED.directory}</code>,{" "}
        <code>{PRINTED.command}</code> prints:
      </p>
      <CodeBlock caption="What it prints" code={PRINTED.text} />
      <Table caption="What doctor looks at" columns={["Name", "Well is"]}>
        {examinations.map(({ name, says }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <Prose text={says} />
            </td>
          </tr>
        ))}
      </Table>
      <Metrics files={files} />
      <Log />
      <Overload />
    </>
  )
}

function Metrics({ files }: Pick<Props, "files">) {
  return (
    <>
      <h2 id="metrics">Metrics</h2>
      <p>
        <code>{ROUTES.metrics.path}</code> is Prometheus's text, and off unless you say where: by{" "}
        <Setting name="MAILKIND_METRICS" /> on a listener of its own, such as <code>127.0.0.1:9464</code>, or by{" "}
        <Setting name="MAILKIND_METRICS_ALLOW" /> for some addresses where the API is served; for all others the path
        does not exist. With workers it tells of all of them together. No label names an address, an account, a key or a
        client. This server brings{" "}
        <a href={files.dashboard} download="mailkind.json">
          a dashboard for Grafana
        </a>{" "}
        and{" "}
        <a href={files.alerts} download="alerts.yml">
          alerts for Prometheus
        </a>{" "}
        that are worth waking for, each with what to do.
      </p>
    </>
  )
}

function Log() {
  return (
    <>
      <h2 id="log">The log</h2>
      <p>
        A line of JSON each on standard error, without addresses and keys. Answers that went well are not in it unless{" "}
        <Setting name="MAILKIND_LOG_SAMPLE" /> takes one of so many; answers that took{" "}
        <Setting name="MAILKIND_SLOW_MS" /> and more are. SIGUSR2 has the server log everything from <code>debug</code>{" "}
        on until the next SIGUSR2. SIGHUP has it take the lists anew. Settings are not read again: a{" "}
        <To page="docsUpgrades">hand-over</To> brings new ones in.
      </p>
    </>
  )
}

function Overload() {
  return (
    <>
      <h2 id="overload">Under load</h2>
      <p>
        A process serves <Setting name="MAILKIND_IN_FLIGHT_MAX" /> requests at once. More get{" "}
        <To page="docsErrors" part="overloaded">
          <code>overloaded</code>
        </To>{" "}
        before their body is read, so that memory does not grow; batches and deep checks give way first, and callers
        over their own limits are told of those. <code>{ROUTES.getHealth.path}</code> and{" "}
        <code>{ROUTES.metrics.path}</code> are always answered. If callers see it again and again: let the server use
        all its cores (<code>--workers auto</code>), look in the metrics whether DNS is slow, since a check holds its
        place while it waits, and lower the limits of tiers by <Setting name="MAILKIND_TIERS" />.
      </p>
    </>
  )
}
