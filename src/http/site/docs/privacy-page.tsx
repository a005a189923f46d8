/** @jsxImportSource preact */
import { OBSERVATION_DAYS_MAX } from "../../../check/learned/learned-hosts.ts"
import { LIMITS } from "../../../contract/limits.ts"
import { COOKIES } from "../cookies.ts"
import { Table } from "../ui/layout.tsx"
import { GuidePage, To } from "./guide-page.tsx"

/** What is kept of what is sent here, and who else learns of it. */
export function PrivacyPage() {
  return (
    <GuidePage route="docsPrivacy">
      <p class="lead">An address that is checked is answered and forgotten.</p>
      <p>
        Addresses never reach a log, a metric, the body of an error or the database. What is kept in memory between two
        requests is kept by domain. Send addresses in the body of a <code>POST</code>: what stands in a URL may be kept
        by the proxies and programs on the way.
      </p>
      <h2 id="kept">What is kept</h2>
      <Table caption="What is kept" columns={["What", "As", "For"]}>
        {KEPT.map(({ what, as, time }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{as}</td>
            <td>{time}</td>
          </tr>
        ))}
      </Table>
      <h2 id="elsewhere">Who else is asked</h2>
      <p>
        A check asks the DNS servers of the operator about the domain, and two endpoints of suite_b whether the domain
        is a customer there; <code>workspace: false</code> leaves the latter out. A deep check asks the registry of the
        domain and reads its website. Only the domain leaves this server, never what stands before the @, and never who
        asked.
      </p>
      <Cookies />
      <h2 id="yours">What is yours</h2>
      <p>
        The <To page="account">account page</To> of the dashboard gives you everything that is kept about your account
        as one file, signs out other browsers, and deletes the account with all of it. Copies that the operator has made
        of the database before stay until they are thrown away.
      </p>
      <p>
        Whoever runs this server sees what it asks: who that is, and under which terms, is told by them. You may also{" "}
        <To page="docsSelfHosting">run it yourself</To>.
      </p>
    </GuidePage>
  )
}

function Cookies() {
  return (
    <>
      <h2 id="pages">These pages</h2>
      <p>
        They load nothing from elsewhere and count no visitors. Cookies are set only where one is needed, out of reach
        of scripts, each with a random secret of which only the SHA-256 is kept here:
      </p>
      <Table caption="Cookies" columns={["Cookie", "For", "Kept"]}>
        {Object.entries(COOKIES).map(([name, { says, seconds }]) => (
          <tr key={name}>
            <th scope="row">
              <code>mailkind_{name}</code>
            </th>
            <td>{says}</td>
            <td>{lasting(seconds)}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

const DAY_S = 86_400

/** A length of time in days or minutes. */
const lasting = (seconds: number): string =>
  seconds % DAY_S === 0 ? `${seconds / DAY_S} days` : `${seconds / 60} minutes`

const KEPT = [
  { what: "A check", as: "counts by account, day and category", time: `${LIMITS.usageDays} days` },
  {
    what: "A report of a wrong verdict",
    as: "the domain, the role that the address names, and the comment without what looks like an address",
    time: "as long as the account; a correction that was made of it stays",
  },
  {
    what: "An entry on your block or allow list",
    as: "domains as they are; an address as its SHA-256 beside its domain",
    time: "until you remove it",
  },
  { what: "A mail host", as: "the domains that were seen on it", time: `${OBSERVATION_DAYS_MAX} days` },
  { what: "A key", as: "its SHA-256 and its last four characters", time: "as long as the account" },
  { what: "Your account", as: "your email address", time: "until it is deleted" },
  {
    what: "A browser that is signed in",
    as: "the SHA-256 of its cookie, and what kind of browser it is",
    time: `${LIMITS.sessionDays} days`,
  },
  {
    what: "Somebody who asks to sign in",
    as: "the email address, encrypted under the secrets of the link and of the browser that asked, which are not kept",
    time: `${LIMITS.signInMinutes} minutes`,
  },
  {
    what: "A visitor of the first page",
    as: "how many checks, under a keyed hash of the network address that differs from day to day",
    time: "until the end of the next day",
  },
  {
    what: "A network that abuses the first page",
    as: "how often, under a keyed hash of it",
    time: `${LIMITS.banMemoryHours} hours after it was let in again`,
  },
] as const
