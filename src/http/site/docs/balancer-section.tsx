/** @jsxImportSource preact */
import { ROUTES } from "../../../contract/routes.ts"
import { CodeBlock } from "../ui/layout.tsx"
import HAPROXY from "./examples/haproxy.txt" with { type: "text" }
import { To } from "./guide-page.tsx"
import { Setting } from "./setting.tsx"

/** The file of a balancer before two nodes. */
export const BALANCER: string = HAPROXY.trimEnd()

/** Its two halves, each of which can be seen without scrolling. */
const BACKEND_AT = BALANCER.indexOf("\nbackend ")
const HALVES = {
  "haproxy.cfg": BALANCER.slice(0, BACKEND_AT).trimEnd(),
  "haproxy.cfg, its other half": BALANCER.slice(BACKEND_AT).trim(),
} as const

/** What takes the first of them out, so that it gets nothing more, and what brings it back. */
export const TAKE_OUT = {
  drain: "set server nodes/a state drain",
  ready: "set server nodes/a state ready",
} as const

const said = (line: string): string => `echo "${line}" | socat - /run/haproxy/admin.sock`

/** How callers get to nodes, and how nodes are exchanged without their noticing. */
export function BalancerSection() {
  return (
    <>
      <h2 id="balancer">A balancer before them</h2>
      <p>
        Any that speaks HTTP will do. Let it ask <code>{ROUTES.getHealth.path}</code> every second, add the client to{" "}
        <code>X-Forwarded-For</code>, and ask another node when one takes no connection. When a node is cut off while it
        answers, only what changes nothing may be asked again: every GET, and checks, which at worst cost their units
        twice. This is haproxy's whole file:
      </p>
      {Object.entries(HALVES).map(([caption, code]) => (
        <CodeBlock key={caption} caption={caption} code={code} />
      ))}
      <p>
        With it, nobody notices a node that is taken out, as below, or started. When a host dies, a check that was under
        way there is asked again elsewhere; a report or a form is answered with 502, or not at all, for the two seconds
        until two questions about its health have failed. A host that falls silent without closing its connections holds
        what is under way there until <code>timeout server</code>.
      </p>
      <TakingOut />
      <Rolling />
    </>
  )
}

function TakingOut() {
  return (
    <>
      <h2 id="stop">Taking a node out</h2>
      <CodeBlock caption="Shell, on the balancer" code={`${said(TAKE_OUT.drain)}\n${said(TAKE_OUT.ready)}`} />
      <p>
        After the first line the node gets nothing new; then SIGTERM ends it when it has answered the rest, and not even
        a report is lost. Without that line SIGTERM has connections that are kept go elsewhere for a quarter of a
        second, and then takes no more: what was on its way in that moment is asked again by the balancer, if it may be.
      </p>
    </>
  )
}

function Rolling() {
  return (
    <>
      <h2 id="rolling">A new version, node by node</h2>
      <ol>
        <li>Back up the database.</li>
        <li>
          On the first node put the new executable in the place of the old one, and start it by{" "}
          <To page="docsUpgrades" part="hand-over">
            <code>serve --replace</code>
          </To>
          , or take the node out, stop it and start it. It brings the tables up to date, under a lock, all changes or
          none; others that start meanwhile wait.
        </li>
        <li>See that it is well, and do the same on the next one.</li>
      </ol>
      <p>
        Changes of tables only add to them, so nodes of the version before go on serving on newer ones. But none of that
        version starts on them any more, and neither do its commands: they say that a newer version wrote the database.
        So go on to the last node soon, and go back by restoring the backup. While two versions serve, a page of one may
        find its style or script missing on the other: loading it again helps.
      </p>
      <p>
        Two nodes on one host have a data directory and a <Setting name="MAILKIND_PORT" /> each.
      </p>
    </>
  )
}
