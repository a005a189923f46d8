import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { integrityOf } from "../../customers/crash.ts"
import { TestServer } from "../../support/test-server.ts"
import { CUSTOMER_SETTINGS, Customer } from "./customer.ts"
import { type Doing, type Found, type LeftOut, residentOf, tookMs, untilServed } from "./fault.ts"

const IS_ROOT = process.getuid?.() === 0
export const CAN_MOUNT: boolean = IS_ROOT && Bun.which("unshare") !== null
const MOUNT = 'mount -t tmpfs -o mode=700,size=12m tmpfs "$1" && shift && exec "$@"'
const PIECE = new Uint8Array(65_536)

/** Fills the disk under a server that works, and frees it again. */
export async function fullDisk({ times, program }: Doing): Promise<Found | LeftOut> {
  if (!CAN_MOUNT) return { leftOut: "only root can mount a small disk" }
  await using victim = serverOnSmallDisk(program)
  await victim.start()
  const inside = seenBy(victim)
  const desk = new Customer(victim, 0)
  await desk.signIn()
  await desk.makeKey()
  const before = residentOf(victim)
  const breaches: string[] = []
  let backMs = 0
  for (let time = 0; time < times; time++) {
    for (let deed = 0; deed < 5; deed++) await desk.block()
    fill(inside)
    if (!(await isRefused(desk))) breaches.push("a full disk took whatever was written")
    if ((await victim.check()) !== 200) breaches.push("a check was refused for the disk was full")
    rmSync(join(inside, "filler"))
    const servedMs = await untilServed(victim)
    backMs = Math.max(backMs, servedMs + (await tookMs(() => desk.block())))
    breaches.push(...(await desk.lost()), ...integrityOf(copied(inside, victim.directory)))
  }
  return {
    did: "a disk of 12 MiB was filled to its last block while an account worked, and freed again; nothing was restarted",
    ...{ times, acknowledged: desk.acknowledged, breaches, backMs, memory: { before, after: residentOf(victim) } },
  }
}

/** A server whose data directory is a disk of 12 MiB. Only root can mount that. */
export function serverOnSmallDisk(program: readonly string[]): TestServer {
  const by = (directory: string): readonly string[] => [
    ...["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, "sh"],
    directory,
  ]
  const server = new TestServer({ program, settings: CUSTOMER_SETTINGS, by })
  mkdirSync(server.dataDirectory)
  return server
}

/** Its data directory, whose mount other processes do not see. */
export const seenBy = ({ pid, dataDirectory }: TestServer): string => `/proc/${pid}/root${dataDirectory}`

/** A copy of the database, for a file on another's mount cannot be opened as one. */
function copied(inside: string, directory: string): string {
  for (const name of ["mailkind.sqlite", "mailkind.sqlite-wal"]) copyFileSync(join(inside, name), join(directory, name))
  return join(directory, "mailkind.sqlite")
}

/** Writes until nothing more fits. */
export function fill(directory: string): void {
  const file = openSync(join(directory, "filler"), "w")
  for (let piece = PIECE; piece.length > 0; )
    try {
      writeSync(file, piece)
    } catch (full) {
      if (!(full instanceof Error)) throw full
      piece = piece.subarray(0, Math.floor(piece.length / 2))
    }
  closeSync(file)
  if (statfsSync(directory).bavail > 0) throw new Error("the disk is not full")
}

/** Whether a deed of many is refused in the end: what the log beside the database has room for is still taken. */
export async function isRefused(desk: Customer): Promise<boolean> {
  for (let deed = 0; deed < DEEDS_MAX; deed++) {
    const isDone = await desk.block().then(
      () => true,
      () => false,
    )
    if (!isDone) return true
  }
  return false
}

const DEEDS_MAX = 2000

/** Starts a server on a directory that it may not write, and takes the right away from one that runs. */
export async function readOnlyDirectory({ times, program }: Doing): Promise<Found | LeftOut> {
  if (IS_ROOT && Bun.which("setpriv") === null) return { leftOut: "root may write everything, and there is no setpriv" }
  // Root without the right to pass over rights is bound by them as any owner is.
  const as = IS_ROOT ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
  await using victim = new TestServer({ program, settings: CUSTOMER_SETTINGS, by: () => as })
  mkdirSync(victim.dataDirectory)
  const breaches: string[] = []
  let backMs = 0
  await victim.start()
  const desk = new Customer(victim, 0)
  await desk.signIn()
  await desk.makeKey()
  const before = residentOf(victim)
  let after = before
  for (let time = 0; time < times; time++) {
    await desk.block()
    setRights(victim, 0o500, 0o400)
    // What it has open stays writable; what it cannot write is not acknowledged.
    await desk.block().catch(() => undefined)
    if ((await victim.check()) !== 200) breaches.push("a check was refused for its directory may not be written")
    after = residentOf(victim)
    await victim.kill()
    const { code, description } = await victim.refusedStart()
    if (code !== 1 || !/writable for this user/.test(description))
      breaches.push(`it ended with ${code} and said: ${description}`)
    setRights(victim, 0o700, 0o600)
    backMs = Math.max(backMs, await tookMs(() => victim.start().then(() => untilServed(victim))))
    breaches.push(...(await desk.lost()), ...integrityOf(victim.database))
  }
  return {
    did: "the right to write was taken from a server that ran, then it was killed and started so: it has to refuse in words",
    ...{ times, acknowledged: desk.acknowledged, breaches, backMs, memory: { before, after } },
  }
}

function setRights({ dataDirectory }: TestServer, directory: number, file: number): void {
  for (const entry of readdirSync(dataDirectory, { withFileTypes: true }))
    if (entry.isFile()) chmodSync(join(dataDirectory, entry.name), file)
  chmodSync(dataDirectory, directory)
}
