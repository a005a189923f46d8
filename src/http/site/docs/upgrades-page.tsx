/** @jsxImportSource preact */
import { API_VERSION, ROUTES } from "../../../contract/routes.ts"
import { Sample } from "../layout.tsx"
import { GuidePage, To } from "./guide-page.tsx"

/** How a server is brought to a new version, how its data is kept safe, and what callers may rely on meanwhile. */
export function UpgradesPage() {
  return (
    <GuidePage route="docsUpgrades">
      <p class="lead">A new version is a new file. What it keeps is one database.</p>
      <h2 id="upgrade">A new version</h2>
      <ol>
        <li>Back up the data directory, as below.</li>
        <li>
          See what the new one would be made of: <code>mailkind version</code>, <code>mailkind licences</code>, and its
          bill of materials.
        </li>
        <li>Put the new executable in the place of the old one, by a rename, and restart the server.</li>
        <li>
          Ask <code>{ROUTES.getHealth.path}</code>: it names the version and the lists in use.
        </li>
      </ol>
      <p>
        The database is brought up to date at the start, forward only. Lists that were refreshed belong to the version
        that made them: a new one begins with those it carries, and makes fresh ones from the copies that are there.
      </p>
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

function Backups() {
  return (
    <>
      <h2 id="backup">Backups</h2>
      <p>
        All that cannot be had again is in <code>mailkind.sqlite</code> in the data directory: accounts, the hashes of
        keys, units, reports, own lists, mails that wait. The lists beside it can be made anew.{" "}
        <code>mailkind backup FILE</code> writes a whole copy while the server runs; a plain copy of the file is whole
        only while nothing runs, since what was written last is in a file beside it.
      </p>
      <p>
        To go back: stop the server, put the copy in place of <code>mailkind.sqlite</code>, take away{" "}
        <code>mailkind.sqlite-wal</code> and <code>mailkind.sqlite-shm</code>, and start. Keys that were revoked since
        the backup hold again: revoke them again. Try it now and then, on another machine, before you need it.
      </p>
    </>
  )
}

function OlderLists() {
  return (
    <>
      <h2 id="lists">Going back to older lists</h2>
      <Sample
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
