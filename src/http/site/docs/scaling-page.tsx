/** @jsxImportSource preact */
import { KEY_AUTHENTICATOR_BOUNDS } from "../../../customers/keys/key-authenticator.ts"
import { CodeBlock, Table } from "../ui/layout.tsx"
import { BalancerSection } from "./balancer-section.tsx"
import { GuidePage, grouped, To } from "./guide-page.tsx"
import { PostgresSection } from "./postgres-section.tsx"
import { Setting } from "./setting.tsx"
import { SharedSection } from "./shared-section.tsx"

/** How one server becomes many over one PostgreSQL database, and when that is worth its price. */
export function ScalingPage() {
  return (
    <GuidePage route="docsScaling">
      <p class="lead">The same executable on many hosts, over one PostgreSQL database.</p>
      <When />
      <Move />
      <SharedSection />
      <Outage />
      <BalancerSection />
      <PostgresSection />
    </GuidePage>
  )
}

/**
 * Checks a second by the number of nodes, as `bun run bench nodes` counts them. This is where its figures go: while there is
 * no row, the page has no table.
 */
const THROUGHPUT: readonly { readonly nodesCount: number; readonly checksPerSecond: number }[] = [
  { nodesCount: 1, checksPerSecond: 54_000 },
  { nodesCount: 2, checksPerSecond: 96_000 },
  { nodesCount: 3, checksPerSecond: 120_000 },
]

function When() {
  return (
    <>
      <h2 id="when">When one host is not enough</h2>
      <p>
        One host has nothing to install and nothing that can go away beside it. One core answers 45,000 checks a second
        that need no DNS, and <code>--workers auto</code> uses them all; 100,000 accounts with 300,000 keys start within
        a second. Load is rarely a reason to leave it. These are:
      </p>
      <ul>
        <li>a host that fails must not be noticed, nor one that is being repaired;</li>
        <li>callers are many more than the cores of the largest host can answer;</li>
        <li>there is a PostgreSQL already that is backed up and watched, and you want all there.</li>
      </ul>
      <p>
        The price: the database is now what everything waits for. Two nodes over a database that fails are no better
        than one host, so have a standby for it.
      </p>
      <p>
        The database is asked little: less than one statement for a thousand checks when callers come as fast as nodes
        can answer, some ten a second and node with fifty busy keys, and two a second when nobody asks. How much nodes
        of one core each answer, worked out from the processor time that an answer took:
      </p>
      <Table caption="Checks a second with one core a node" columns={["Nodes", "Checks a second"]}>
        {THROUGHPUT.map(({ nodesCount, checksPerSecond }) => (
          <tr key={nodesCount}>
            <th scope="row">{nodesCount}</th>
            <td>{grouped(checksPerSecond)}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

/** The commands that move an installation. The URL stands in the environment, where no list of processes shows it. */
export const MOVE = `createdb --encoding=UTF8 --template=template0 mailkind
mailkind doctor --only database
mailkind store copy
mailkind doctor --only database`

function Move() {
  return (
    <>
      <h2 id="move">The move</h2>
      <ol>
        <li>
          Make an empty database, and set <Setting name="MAILKIND_DATABASE_URL" /> to its URL.
        </li>
        <li>Stop the server. The copy refuses while anything has the SQLite database open.</li>
        <li>
          Copy. Every row is read back, and compared by count and checksum, before anything lasts: all of it is there
          afterwards, or nothing. 100,000 accounts with 300,000 keys and 3,650,000 rows of usage took 65 seconds, in
          bounded memory.
        </li>
        <li>Start the server with the same setting; then the others.</li>
      </ol>
      <CodeBlock caption="Shell" code={MOVE} />
      <p>
        A new installation needs none of it: the first node that starts on an empty database makes the tables and the
        first account, whose key it prints; nodes that start together wait for each other.
      </p>
      <p>
        The way back: the SQLite file stays as it was. Without <Setting name="MAILKIND_DATABASE_URL" /> the server
        serves from it again, as of the moment of the copy: keys that were revoked since work again, and what was made
        since is not there. Nothing copies PostgreSQL back, so look around before callers come.
      </p>
    </>
  )
}

function Outage() {
  return (
    <>
      <h2 id="outage">While the database is away</h2>
      <ul>
        <li>
          A node answers checks of the keys that it has in hand, each for at most{" "}
          {KEY_AUTHENTICATOR_BOUNDS.keyTtlMs / 1000} seconds from when it was read, and as far as the units reach that
          it has leased.
        </li>
        <li>
          All else gets{" "}
          <To page="docsErrors" part="overloaded">
            <code>overloaded</code>
          </To>
          , 503 with <code>Retry-After</code>. Nothing was kept of such a request; where the connection broke in the
          middle, the answer says that it may have been. A report that is sent again is never two.
        </li>
        <li>Feedback is refused, not lost: what was answered with 202 is in the database.</li>
        <li>
          Health stays at 200, or a balancer would take out every node at once. The log says that the database does not
          answer, and when it answers again.
        </li>
        <li>
          When it is back, or another has taken its address, nodes find it by themselves within seconds. A node that
          starts meanwhile ends with what is wrong: let it be started again.
        </li>
        <li>
          A synchronous standby (<code>synchronous_standby_names</code>) that takes over has all that was acknowledged.
          A copy made by <code>pg_dump</code> lacks what came after it: keys that were revoked since are active again,
          and units that were used since can be used again that day.
        </li>
      </ul>
    </>
  )
}
