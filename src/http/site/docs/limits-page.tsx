/** @jsxImportSource preact */
import { LIMITS } from "../../../contract/limits.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { TIERS } from "../../../contract/tiers.ts"
import type { TierLimits } from "../../../customers/quota/tier-limits.ts"
import { Table } from "../ui/layout.tsx"
import { GuidePage, grouped, octets, To } from "./guide-page.tsx"

/** Every limit of a caller, as this server has them. */
export function LimitsPage({ tiers }: { readonly tiers: readonly TierLimits[] }) {
  return (
    <GuidePage route="docsLimits">
      <p class="lead">What an account may ask, what one request may hold, and how to see what is left.</p>
      <h2 id="tiers">Tiers</h2>
      <p>
        They hold for all secret keys of an account together, on all processes of this server. A burst may be{" "}
        {LIMITS.burstFactor} times the requests of a second.
      </p>
      <Table caption="Tiers" columns={["Tier", "Requests a second", "In flight", "Units a day"]}>
        {tiers.map((limits, tier) => (
          <tr key={tier}>
            <th scope="row">
              {tier} {TIERS[tier]?.name ?? ""}
            </th>
            <td class="number">{limitOf(limits.requestsPerSecond)}</td>
            <td class="number">{limitOf(limits.inFlight)}</td>
            <td class="number">{limitOf(limits.unitsPerDay)}</td>
          </tr>
        ))}
      </Table>
      <p>
        A publishable key has {LIMITS.publishablePerSecond} requests a second, {LIMITS.publishableClientPerSecond} of
        one client address, and {grouped(LIMITS.publishableUnitsPerDay)} units a day. Without a key,{" "}
        {LIMITS.keylessPerSecond} <To page="docsTestAddresses">test addresses</To> a second are answered to one client
        address.
      </p>
      <Units />
      <Sizes />
      <WhatIsLeft />
      <Connections />
      <People />
    </GuidePage>
  )
}

const limitOf = (limit: number | null): string => (limit === null ? "unlimited" : grouped(limit))

/** What may be how long, and where that is refused. */
const SIZES = [
  { what: "An address", max: `${LIMITS.addressBytesMax} octets, ${LIMITS.localPartBytesMax} before the @` },
  { what: "A domain", max: `${LIMITS.domainBytesMax} octets, ${LIMITS.labelBytesMax} a label` },
  { what: "A website address", max: `${grouped(LIMITS.urlLengthMax)} characters` },
  {
    what: "A batch",
    max: `${LIMITS.batchItemsMax} items of ${grouped(LIMITS.batchItemLengthMax)} characters, ${octets(LIMITS.batchBodyBytesMax)}`,
  },
  { what: "Any other body", max: octets(LIMITS.bodyBytesMax) },
  { what: "The comment of a report", max: `${grouped(LIMITS.commentLengthMax)} characters` },
  { what: "Active keys of an account", max: String(LIMITS.keysPerAccountMax) },
  { what: "Entries on each own list", max: grouped(LIMITS.ownListEntriesMax) },
  { what: "An own X-Request-Id", max: `${LIMITS.requestIdLengthMax} of A–Z, a–z, 0–9 and . _ -` },
] as const

function Sizes() {
  return (
    <>
      <h2 id="sizes">Sizes</h2>
      <Table caption="Sizes" columns={["What", "At most"]}>
        {SIZES.map(({ what, max }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{max}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function Units() {
  return (
    <>
      <h2 id="units">Units</h2>
      <ul>
        <li>A check costs one unit, and so does each item of a batch.</li>
        <li>
          A deep check costs {LIMITS.deepCheckUnits} units, or one where neither age nor homepage could be told. It must
          find {LIMITS.deepCheckUnits} left.
        </li>
        <li>Errors, test addresses, feedback, usage and health cost nothing.</li>
        <li>A batch that would pass the day's units is refused whole. Units return at 00:00 UTC.</li>
      </ul>
    </>
  )
}

function WhatIsLeft() {
  return (
    <>
      <h2 id="headers">What is left</h2>
      <p>
        Every answer to a key with limits has <code>RateLimit-Policy</code>, which names them, and{" "}
        <code>RateLimit</code>, which says what is left of each and for how long; where several servers share the work,
        each lets through its part of what a second allows, and tells what is left of that. A refusal has{" "}
        <code>Retry-After</code> in seconds, and in its body <code>retry_after</code>, <code>limit</code> and, for the
        units of the day, <code>resets_at</code>. <code>{ROUTES.getUsage.path}</code> tells the same at any time. What
        to do about a refusal stands under{" "}
        <To page="docsErrors" part="rate_limited">
          <code>rate_limited</code>
        </To>{" "}
        and{" "}
        <To page="docsErrors" part="quota_exceeded">
          <code>quota_exceeded</code>
        </To>
        .
      </p>
    </>
  )
}

function Connections() {
  return (
    <>
      <h2 id="connections">Connections and load</h2>
      <p>
        A connection may stand still for {LIMITS.connectionIdleSeconds} seconds; keep it open between requests, and open
        it again when it was closed. The head of a request has about {LIMITS.requestHeadSeconds} seconds, its body{" "}
        {LIMITS.connectionIdleSeconds}: whoever is slower is cut off without an answer. When the server as a whole has
        more to do than it can, it answers{" "}
        <To page="docsErrors" part="overloaded">
          <code>overloaded</code>
        </To>{" "}
        with <code>Retry-After</code>, to batches and deep checks first. It costs no units and says nothing about your
        own limits.
      </p>
    </>
  )
}

const minutes = (count: number): string => `${count} ${count === 1 ? "minute" : "minutes"}`

/** Limits of the pages for people: what, and how much. */
const OF_PEOPLE = [
  {
    what: "The first page, without a pass",
    limit: `${LIMITS.freeChecksPerClientAndDay} checks a day for each network address`,
  },
  {
    what: "The first page, with a pass",
    limit: `${LIMITS.passChecks} checks within ${minutes(LIMITS.passMinutes)}; the browser gets another by a short piece of arithmetic`,
  },
  {
    what: "The first page, how fast",
    limit: `${LIMITS.freeRequestsPerSecond} request a second, ${LIMITS.freeRequestsBurst} at once; ${LIMITS.strikesMax} that are too fast or wrong within ${minutes(LIMITS.strikeMinutes)} close it to the network for ${LIMITS.banHours} hour, and up to ${LIMITS.banHoursMax} when it goes on`,
  },
  {
    what: "Signing in",
    limit: `a mail holds for ${minutes(LIMITS.signInMinutes)}, once, and ${LIMITS.signInTriesMax} tries of its code; an address gets ${LIMITS.signInsPerAddressMax} mails at once and one more every ${minutes(LIMITS.signInPerAddressSeconds / 60)}`,
  },
  {
    what: "Staying signed in",
    limit: `${LIMITS.sessionDays} days, in ${LIMITS.sessionsPerAccountMax} browsers`,
  },
  {
    what: "Reports on the dashboard",
    limit: `${LIMITS.feedbackFormPerSecond} a second; the same one counts once in ${LIMITS.feedbackDuplicateDays} days`,
  },
] as const

function People() {
  return (
    <>
      <h2 id="pages-limits">On the pages</h2>
      <p>
        None of these touches requests with a key. All visitors of the <To page="home">first page</To> share a number of
        checks a day, which the operator sets.
      </p>
      <Table caption="Limits of the pages" columns={["What", "Limit"]}>
        {OF_PEOPLE.map(({ what, limit }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{limit}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}
