/** @jsxImportSource preact */
import { API_VERSION, ROUTES } from "../../../contract/routes.ts"
import { PRE_MIGRATION_BACKUPS_MAX } from "../../../customers/store/backup/backup.ts"
import { CodeBlock, Table } from "../ui/layout.tsx"
import { GuidePage, To } from "./guide-page.tsx"

/** How a server is brought to a new version, how its data is kept safe, and what callers may rely on meanwhile. */
export function UpgradesPage() {
  return (
    <GuidePage route="docsUpgrades">
      <p class="lead">A new version is a new file. What it keeps is one database.</p>
      <NewVersion />
      <Backups />
      <OlderLists />
      <h2 id="api">What callers may rely on</h2>
      <p>
        This is version {API_VERSION} of the interface. New members of answers, new reasons and new codes are no breaks:
        ignore what you do not know, and treat an unknown reason as evidence. What is to go away is announced by the
        headers <code>Deprecation</code> and <code>Sunset</code> first.
      </p>
    </GuidePage>
  )
}

const UPGRADE = `mailkind backup /var/backups/mailkind-before
/usr/local/bin/mailkind.new doctor
mv /usr/local/bin/mailkind.new /usr/local/bin/mailkind
mailkind serve --replace`

function NewVersion() {
  return (
    <>
      <h2 id="upgrade">A new version</h2>
      <ol>
        <li>Back up the database.</li>
        <li>
          Put the new executable beside the old one, and have its{" "}
          <To page="docsSelfHosting" part="doctor">
            doctor
          </To>{" "}
          look at this host. <code>mailkind licences</code> and <code>mailkind sbom</code> tell what it is made of.
        </li>
        <li>Put it in the place of the old one by a rename, never by writing over it.</li>
        <li>Start it, by a hand-over or by stopping the old one first.</li>
        <li>
          Ask <code>{ROUTES.getHealth.path}</code>: it names the version and the lists in use.
        </li>
      </ol>
      <CodeBlock caption="Shell" code={UPGRADE} />
      <p>
        The database is brought up to date at the start, forward only. Before that changes any table, a copy is kept
        beside it as <code>mailkind.sqlite.before-N</code>, where N is the number of the first change; of these the
        latest {PRE_MIGRATION_BACKUPS_MAX} stay. Lists that were refreshed belong to the version that made them: a new
        one begins with those it carries, and makes fresh ones from the copies that are there.
      </p>
      <p>
        To go back, stop the new version, put the old executable in its place, and restore the copy with it by{" "}
        <code>mailkind restore</code>, as below. What was changed meanwhile is lost, but for what a restore takes over.
      </p>
      <HandOver />
    </>
  )
}

function HandOver() {
  return (
    <>
      <h2 id="hand-over">Restarting without refusing a connection</h2>
      <p>
        <code>mailkind serve --replace</code> takes over from the server on the same port and data directory: both
        listen for a moment, the new one gets every new connection, and the old one answers what it was asked and ends.
        No connection is refused or reset. A new one that cannot start changes nothing, and where none runs it simply
        starts. That is also how new settings come in, since a server reads its own once. With the{" "}
        <To page="docsSelfHosting" part="unit">
          units of systemd
        </To>{" "}
        it is the other instance:
      </p>
      <CodeBlock caption="Shell" code="systemctl enable --now mailkind@b && systemctl disable mailkind@a" />
      <p>
        It works on Linux, whatever number of <code>--workers</code> either has. In a container, stop the old one and
        start the new one: SIGTERM answers what is in flight, and clients that{" "}
        <To page="docsErrors" part="advice">
          try again
        </To>{" "}
        lose nothing.
      </p>
    </>
  )
}

const BACKUP = `mailkind backup /var/backups/mailkind-monday
mailkind restore /var/backups/mailkind-monday`

function Backups() {
  return (
    <>
      <h2 id="backup">Backups</h2>
      <p>
        All that cannot be had again is in <code>mailkind.sqlite</code> in the data directory: accounts, the hashes of
        keys, units, reports, own lists, mails that wait. The lists beside it can be made anew.
      </p>
      <CodeBlock caption="Shell" code={BACKUP} />
      <p>
        <code>backup</code> writes the database as it is at one moment, also while the server runs, and reads every page
        of the copy back. A file that is there is not replaced without <code>--force</code>. It holds email addresses
        and hashes of keys: keep it as safe as the database. A plain copy of the file is whole only while nothing runs,
        since what was written last is in a file beside it. With PostgreSQL,{" "}
        <To page="docsScaling" part="postgres-backup">
          its own tools
        </To>{" "}
        do it.
      </p>
      <h2 id="restore">Restoring</h2>
      <p>
        <code>restore</code> wants the server stopped, and refuses while anything has the database open. A backup that
        is damaged, or made by a newer version, changes nothing. It happens whole or not at all, also when it is killed
        or the power goes. Everybody signs in again. The database that was there is kept beside as{" "}
        <code>mailkind.sqlite.replaced-…</code>, and what must not go back is taken over from it:
      </p>
      <Table caption="What a restore does with what happened since the backup" columns={["Since the backup", "Then"]}>
        {SINCE.map(({ what, becomes }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{becomes}</td>
          </tr>
        ))}
      </Table>
      <p>
        It tells how many of each there were. Where the old database cannot be read nothing can be taken over, and it
        says so: revoked keys work again, up to one whole quota may be used again today, and mails may go out twice. Try
        a restore now and then, on another machine, before you need it.
      </p>
    </>
  )
}

/** What a restore promises of what happened since the backup. */
const SINCE = [
  { what: "Keys that were revoked", becomes: "stay revoked" },
  { what: "Units that were used", becomes: "stay used: quotas go on" },
  { what: "Mails that were sent", becomes: "are not sent again" },
  { what: "Accounts that were made", becomes: "are gone, and are counted" },
  { what: "Accounts that were deleted", becomes: "are back, and are counted: delete them again" },
  { what: "Keys, reports and list entries that were made", becomes: "are gone" },
] as const

function OlderLists() {
  return (
    <>
      <h2 id="lists">Going back to older lists</h2>
      <CodeBlock
        caption="Shell"
        code={`mailkind lists info
mailkind lists rollback
mailkind lists update`}
      />
      <p>
        After a rollback no schedule replaces the lists, until <code>lists update</code> does by hand. What they say
        stands under <To page="docsLists">Lists</To>.
      </p>
    </>
  )
}
