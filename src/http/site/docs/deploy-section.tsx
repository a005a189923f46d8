/** @jsxImportSource preact */
import { CodeBlock } from "../ui/layout.tsx"
import { To } from "./guide-page.tsx"
import { Setting } from "./setting.tsx"

/** The files that deploy a server, as they are in the sources. */
export type DeployFiles = { readonly unit: string; readonly environment: string; readonly dockerfile: string }

/** How a server is run by systemd or in a container: by the files themselves. */
export function DeploySection({ files }: { readonly files: DeployFiles }) {
  return (
    <>
      <h2 id="unit">As a unit of systemd</h2>
      <p>
        This is <code>data/deploy/mailkind@.service</code> of the sources. It runs as a user of its own that owns
        nothing but the data directory, and sees the rest of the system read-only. Its settings stand in a file that
        root alone can read, since <Setting name="MAILKIND_SMTP_URL" /> may hold a password.
      </p>
      <CodeBlock caption="mailkind@.service" code={files.unit.trimEnd()} />
      <CodeBlock caption="mailkind.env" code={files.environment.trimEnd()} />
      <p>
        There are two instances, <code>mailkind@a</code> and <code>mailkind@b</code>, of which one runs. To restart,
        start the other: it takes over <To page="docsUpgrades">without refusing a connection</To>.
      </p>
      <h2 id="container">In a container</h2>
      <p>
        This is <code>data/deploy/Dockerfile</code>. The image holds the executable and what it needs of the C library,
        runs as a user without rights on a read-only root, and keeps its data in the volume <code>/data</code>.
      </p>
      <CodeBlock caption="Dockerfile" code={files.dockerfile.trimEnd()} />
      <p>
        Several processes may share a data directory on one host. Hosts may not share one, and neither may containers on
        different hosts: they share a <To page="docsScaling">PostgreSQL database</To>.
      </p>
    </>
  )
}
