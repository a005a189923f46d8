/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { POOL_BOUNDS } from "../../../customers/store/postgres/connection-pool.ts"
import { CodeBlock, Table } from "../ui/layout.tsx"
import { Setting } from "./setting.tsx"

/** What is kept, in bytes of the database with its indexes, as PostgreSQL 15 was measured to take it. */
const SIZES = [
  { what: "An account", bytes: "290" },
  { what: "A key", bytes: "470; up to 1,200 while it is in use all day, before autovacuum has tidied up" },
  { what: "What a key did on a day, for each thing that is counted", bytes: "260" },
  { what: "The units of an account on a day", bytes: "160" },
  { what: "A report of a wrong verdict, without its comment", bytes: "560" },
] as const satisfies readonly { readonly what: string; readonly bytes: string }[]

/** An installation whose connections are counted as an example. */
const EXAMPLE = { nodes: 3, workers: 4 } as const

/** Commands that keep a copy of the database, and put it back while no node runs. */
export const DUMP = `pg_dump --format=custom --file=/var/backups/mailkind.dump "$MAILKIND_DATABASE_URL"`
export const RESTORE = `pg_restore --clean --if-exists --single-transaction --dbname="$MAILKIND_DATABASE_URL" /var/backups/mailkind.dump
psql "$MAILKIND_DATABASE_URL" --command "UPDATE change_head SET id = id + 1000000"`

/** How the database is kept, how large it is to be, and how nodes reach it. */
export function PostgresSection() {
  return (
    <>
      <h2 id="postgres-backup">Backups of PostgreSQL</h2>
      <p>
        PostgreSQL has its own, and <code>mailkind backup</code> says so. A dump is the database at one moment, made
        while nodes serve:
      </p>
      <CodeBlock caption="Shell" code={DUMP} />
      <p>Stop every node before you put it back:</p>
      <CodeBlock caption="Shell" code={RESTORE} />
      <p>
        The last line has every node drop what it holds, should one still run. Unlike a restore of SQLite, this takes
        nothing over from what was there: keys that were revoked since the dump work again, units of today can be used
        again, and mails may go out twice. So keep a standby, or archive the write-ahead log, and restore a dump only
        when both are lost.
      </p>
      <Size />
      <Connections />
      <h2 id="tls">TLS to the database</h2>
      <p>
        Without <code>sslmode</code> in the URL the connection is in clear text, the password's proof and all rows:
        leave it so on one host only. <code>?sslmode=verify-full</code> wants TLS, a certificate by an authority that
        the system trusts, and the host's name in it; with <code>&amp;sslrootcert=/etc/ca.pem</code> behind it, one by
        that authority. <code>require</code> encrypts, and believes any certificate. <code>prefer</code> encrypts where
        the database offers it. <code>psql</code> and <code>pg_dump</code> read the same URL alike.
      </p>
    </>
  )
}

function Size() {
  return (
    <>
      <h2 id="size">How large</h2>
      <Table caption="Bytes of the database" columns={["What", "Bytes"]}>
        {SIZES.map(({ what, bytes }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{bytes}</td>
          </tr>
        ))}
      </Table>
      <p>
        Usage is kept for {LIMITS.usageDays} days. A key that is used leaves a row a day for its units, one for its
        checks, and one for each category that it met: about five. So 10,000 keys in daily use come to 400 MB, and
        100,000 accounts with 300,000 keys and 3,650,000 rows of usage to 1.2 GB. A database of that size wants two
        cores and 4 GB: when keys and units are in hand, a request asks nothing of it.
      </p>
    </>
  )
}

function Connections() {
  const { nodes, workers } = EXAMPLE
  const each = POOL_BOUNDS.connectionsMax + 1
  return (
    <>
      <h2 id="connections">Connections</h2>
      <p>
        Each process has up to <Setting name="MAILKIND_DATABASE_CONNECTIONS" /> and one more that listens: {nodes} nodes
        of {workers} workers take {nodes} × {workers} × {each} = {nodes * workers * each}, and {workers * each} more
        while one of them is replaced. Commands take some too. Keep the sum below <code>max_connections</code>, which is
        100 where nobody set it; <code>doctor</code> warns above four fifths. Statements are short, so more connections
        hardly answer more.
      </p>
      <p>
        Name the server itself. A pooler before it, such as PgBouncer, is refused at the start: it does not pass on the
        notifications by which nodes hear of changes, nor the bounds that they set for their connections.
      </p>
    </>
  )
}
