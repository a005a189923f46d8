/** @jsxImportSource preact */
import { CodeBlock, Prose, Table } from "../ui/layout.tsx"
import { Setting } from "./setting.tsx"

/** What all nodes have together, and how exactly. */
const SHARED = [
  {
    what: "Keys, accounts, terms, block and allow lists, corrections",
    how: "A change is told to every node at once, and found within 5 seconds where the word is lost. A revoked key is refused by all of them in less than a second.",
  },
  {
    what: "Units a day",
    how: "Exact: a node leases units from the database before it uses them, so that all of them together never admit one more. One that is killed takes at most a hundredth of a quota with it.",
  },
  {
    what: "Requests a second and in flight",
    how: "Each node has its part of an account's limit: one by the number of nodes that live. They beat every 5 seconds; one that was silent for 15 no longer counts.",
  },
  {
    what: "Sign-ins, sessions, forms, free checks and passes",
    how: "In the database, as is the secret that signs challenges: each request may get to another node. A balancer needs no sticky sessions.",
  },
  { what: "Mails", how: "One node sends each." },
  {
    what: "Usage",
    how: "Each node adds what it counted every second; one that is killed loses what it had not added.",
  },
  {
    what: "Learned mail hosts, ages of domains, homepages",
    how: "What one node sees is written within 5 seconds; mail hosts are read by the others every 2 minutes.",
  },
] as const satisfies readonly { readonly what: string; readonly how: string }[]

/** What each node has for itself. */
const OWN = [
  {
    what: "Lists",
    how: "Files in the data directory. Each node refreshes its own, at times of its own, so two may differ for a while. `lists update` and `lists rollback` are for one node.",
  },
  { what: "Answers of DNS", how: "In memory. A node that starts asks anew." },
  { what: "Metrics and the log", how: "Have Prometheus ask each node, not the balancer." },
] as const satisfies readonly { readonly what: string; readonly how: string }[]

const REFRESH = `mailkind lists update
mailkind lists info`

/** What nodes have in common, and which settings they need for it. */
export function SharedSection() {
  return (
    <>
      <h2 id="shared">What nodes share, and what not</h2>
      <Parts caption="Shared" parts={SHARED} />
      <Parts caption="Of each node" parts={OWN} />
      <CodeBlock caption="Shell, on each node" code={REFRESH} />
      <h2 id="same-settings">Settings that must be the same</h2>
      <p>
        Give all nodes one environment, but for the address that each listens on. There is no secret to hand round: the
        data directory holds no more than lists, and every secret that mailkind makes is in the database. Above all the
        same must be:
      </p>
      <ul>
        <li>
          <Setting name="MAILKIND_BASE_URL" />, the address of the balancer. Without it each node takes its own address:
          links in mails lead past the balancer, and forms are refused.
        </li>
        <li>
          <Setting name="MAILKIND_TIERS" />, <Setting name="MAILKIND_DEFAULT_TIER" /> and{" "}
          <Setting name="MAILKIND_FREE_CHECKS_PER_DAY" />, or limits depend on who is asked.
        </li>
        <li>
          <Setting name="MAILKIND_SMTP_URL" /> and <Setting name="MAILKIND_MAIL_FROM" />: the node that is asked to sign
          somebody in sends that mail itself, or writes the link to its log.
        </li>
        <li>
          <Setting name="MAILKIND_ADMINS" />, <Setting name="MAILKIND_TEST_DOMAIN" /> and{" "}
          <Setting name="MAILKIND_LISTS_SOURCES" />.
        </li>
        <li>
          <Setting name="MAILKIND_TRUSTED_PROXIES" />, which names the balancer: else all visitors are one client.
        </li>
      </ul>
      <p>The clocks of nodes are to be right to the second: days begin by them.</p>
    </>
  )
}

function Parts({
  caption,
  parts,
}: {
  readonly caption: string
  readonly parts: readonly { readonly what: string; readonly how: string }[]
}) {
  return (
    <Table caption={caption} columns={["What", "How"]}>
      {parts.map(({ what, how }) => (
        <tr key={what}>
          <th scope="row">{what}</th>
          <td>
            <Prose text={how} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
