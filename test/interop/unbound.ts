import { join } from "node:path"
import { type ChildServer, startChild } from "./child-server.ts"
import type { Nsd } from "./nsd.ts"

/** What unbound does with questions: asks nsd for its zones, or refuses them. */
type Access = "allow" | "refuse"

/** The program that has to be installed. */
export const UNBOUND_PROGRAMS = ["unbound"] as const

/**
 * Starts unbound, a recursor, in front of nsd: it asks it for these zones, believes what is signed by its keys, and denies all
 * other names, so that it asks nobody else.
 */
export function startUnbound(nsd: Nsd, zones: readonly string[], access: Access): Promise<ChildServer> {
  return startChild(async (directory, port) => {
    const file = join(directory, "unbound.conf")
    const anchors = join(directory, "anchors.key")
    await Bun.write(anchors, `${nsd.trustAnchors.join("\n")}\n`)
    await Bun.write(file, configuration({ directory, port, anchors, nsd, zones, access }))
    return ["unbound", "-d", "-p", "-c", file]
  }, /start of service/)
}

type Configured = {
  readonly directory: string
  readonly port: number
  readonly anchors: string
  readonly nsd: Nsd
  readonly zones: readonly string[]
  readonly access: Access
}

function configuration({ directory, port, anchors, nsd, zones, access }: Configured): string {
  return `server:
  interface: 127.0.0.1
  port: ${port}
  do-ip6: no
  num-threads: 1
  username: ""
  chroot: ""
  directory: "${directory}"
  use-syslog: no
  logfile: ""
  verbosity: 1
  access-control: 127.0.0.0/8 ${access}
  module-config: "validator iterator"
  trust-anchor-file: "${anchors}"
  do-not-query-localhost: no
  local-zone: "." static
${zones.map(name => `  local-zone: "${name}." transparent\n`).join("")}remote-control:
  control-enable: no
# An alias may lead elsewhere: that is put to nsd too, which refuses it, and to no server of the root.
forward-zone:
  name: "."
  forward-addr: ${nsd.address}@${nsd.port}
${zones.map(name => `stub-zone:\n  name: "${name}."\n  stub-addr: ${nsd.address}@${nsd.port}\n`).join("")}`
}
