import { join } from "node:path"
import { type ChildServer, ran, startChild } from "./child-server.ts"

/** A zone for nsd: its records as a zone file has them, under an `$ORIGIN` of its name. */
export type NsdZone = {
  readonly name: string
  readonly records: string
  /** Signed with a key of its own; broken: an address is another than the one that was signed. */
  readonly signing: "none" | "signed" | "broken"
}

/** nsd with its zones. */
export type Nsd = ChildServer & {
  /** The DNSKEY records of the signed zones, as text, for a recursor that trusts them. */
  readonly trustAnchors: readonly string[]
}

const SIGNED_ADDRESS = /(\sA\s+)192\.0\.2\./
const BROKEN_ADDRESS = "$1198.51.100."

/** The programs that have to be installed. */
export const NSD_PROGRAMS = ["nsd", "ldns-keygen", "ldns-signzone"] as const

/** Starts nsd, an authoritative server, for these zones. */
export async function startNsd(zones: readonly NsdZone[]): Promise<Nsd> {
  const trustAnchors: string[] = []
  const child = await startChild(async (directory, port) => {
    trustAnchors.length = 0
    for (const zone of zones) trustAnchors.push(...(await writeZone(directory, zone)))
    const file = join(directory, "nsd.conf")
    await Bun.write(file, configuration(directory, port, zones))
    return ["nsd", "-d", "-c", file]
  }, /nsd started/)
  return { ...child, trustAnchors }
}

/** Writes a zone's file, signs it if it is to be, and gives its trust anchors. */
async function writeZone(directory: string, { name, records, signing }: NsdZone): Promise<string[]> {
  const file = join(directory, `${name}.zone`)
  await Bun.write(file, `$ORIGIN ${name}.\n${records}\n`)
  if (signing === "none") return []
  const key = await ran(directory, "ldns-keygen", "-a", "ECDSAP256SHA256", "-k", "-r", "/dev/urandom", name)
  await ran(directory, "ldns-signzone", "-f", file, `${name}.zone`, key)
  if (signing === "broken") {
    const signed = await Bun.file(file).text()
    if (!SIGNED_ADDRESS.test(signed)) throw new Error(`the zone ${name} has no address to break`)
    await Bun.write(file, signed.replace(SIGNED_ADDRESS, BROKEN_ADDRESS))
  }
  return [(await Bun.file(join(directory, `${key}.key`)).text()).trim()]
}

function configuration(directory: string, port: number, zones: readonly NsdZone[]): string {
  return `server:
  ip-address: 127.0.0.1
  port: ${port}
  server-count: 1
  username: ""
  database: ""
  zonesdir: "${directory}"
  zonelistfile: "${directory}/zone.list"
  pidfile: "${directory}/nsd.pid"
  xfrdfile: "${directory}/xfrd.state"
  xfrdir: "${directory}"
  verbosity: 1
  # No limit of answers to one asker: tests ask quickly.
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones.map(({ name }) => `zone:\n  name: "${name}"\n  zonefile: "${name}.zone"\n`).join("")}`
}
