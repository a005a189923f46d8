import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { hostState, outOfMemoryKills, portHolder, processWaits } from "../../src/system/host-state.ts"
import { tempPath } from "../customers/temp-store.ts"
import { onTestEnd } from "../support/on-test-end.ts"

const PLENTY = { descriptorCount: 10, descriptorsMax: 100 }

test("a full disk is told with the room on it and its size, also of a file that is not there yet", () => {
  const folder = tempPath("disk")
  mkdirSync(folder)
  for (const codes of ["full", "ENOSPC", " SQLITE_FULL: database or disk is full", "EDQUOT"])
    expect(hostState(codes, join(folder, "new", "file"), PLENTY)).toMatch(
      /^[\d,]+ MiB of [\d,]+ MiB are free on the disk of .*disk$/,
    )
})

test("a file that may not be written is told with its owner and its mode, and who this process is", () => {
  const file = tempPath("file")
  writeFileSync(file, "")
  chmodSync(file, 0o400)
  const [own] = [process.geteuid?.()]
  for (const codes of ["unwritable", " EACCES: permission denied, open", "SQLITE_READONLY_DIRECTORY"])
    expect(hostState(codes, file, PLENTY)).toBe(
      `${file} belongs to the user ${own} and has mode 0400; this process runs as the user ${own}`,
    )
})

test("a lack of descriptors is told with their number and the limit", () => {
  const seen = "95 of 100 files and sockets are open"
  expect(hostState("EMFILE", "postgres://db", { descriptorCount: 95, descriptorsMax: 100 })).toBe(seen)
  expect(hostState("SQLITE_CANTOPEN", "/", { descriptorCount: 95, descriptorsMax: 100 })).toEndWith(`; ${seen}`)
  expect(hostState("EMFILE", "postgres://db", PLENTY)).toBeNull()
})

/** Locks a file as a program does that writes to it, says so, and ends with its standard input. */
const LOCKER = `
  const database = new (require("bun:sqlite").Database)(process.argv[1])
  database.run("PRAGMA journal_mode = WAL")
  database.run("BEGIN IMMEDIATE")
  console.log("locked")
  await Bun.stdin.text()
`

test.if(process.platform === "linux")(
  "who has locked a database is named, and nobody where it is not locked",
  async () => {
    const file = tempPath("mailkind.sqlite")
    const child = Bun.spawn([process.execPath, "-e", LOCKER, file], { stdin: "pipe", stdout: "pipe" })
    for await (const _ of child.stdout) break
    const seen = new RegExp(`^the process ${child.pid} \\(bun.*\\) has it locked$`)
    for (const codes of ["busy", "StoreFault SQLITE_BUSY: database is locked"])
      expect(hostState(codes, file, PLENTY)).toMatch(seen)
    expect(hostState("failed", file, PLENTY)).toBeNull()
    child.kill()
    await child.exited
    expect(hostState("busy", file, PLENTY)).toBeNull()
  },
)

test("nothing of the host is told of a fault of another kind, or at another host", () => {
  expect(hostState("away", "postgres://db.example/mk", PLENTY)).toBeNull()
  expect(hostState("full", "postgres://db.example/mk", PLENTY)).toBeNull()
  expect(hostState("ECONNREFUSED", "/data", PLENTY)).toBeNull()
})

test("the process that listens on a port is named", () => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } })
  const { port } = server
  onTestEnd(() => server.stop(true))
  expect(portHolder(port)).toEqual({ pid: process.pid, name: expect.stringMatching(/./) })
  server.stop(true)
  expect(portHolder(port)).toBeNull()
})

test.if(process.platform === "linux")("the kernel tells how many processes it has killed for lack of memory", () => {
  expect(outOfMemoryKills()).toBeGreaterThanOrEqual(0)
})

test.if(process.platform === "linux")(
  "what a process has waited for is told, and nothing of one that is not there",
  () => {
    expect(processWaits(process.pid)).toEqual({ processorMs: expect.any(Number), isForDisk: false })
    expect(processWaits(process.pid)?.processorMs).toBeGreaterThan(0)
    expect(processWaits(2 ** 30)).toBeNull()
  },
)
