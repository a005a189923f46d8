import { expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { createContext } from "../../../src/assemble/context.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { findNodeIdentity, formatIdentity, parseIdentity } from "../../../src/customers/node-service.ts"
import { createSystem } from "../../../src/system/system.ts"
import { tempPath } from "../temp-store.ts"

const URL = "postgres://localhost/none"

/** What a server of the data directory finds, and what its directory holds. */
function placed(directory = tempPath("data"), url: string | undefined = URL) {
  const read = parseSettings({ MAILKIND_DATA_DIR: directory, ...(url !== undefined && { MAILKIND_DATABASE_URL: url }) })
  if (read.kind !== "read") throw new Error(read.faults.join())
  const lines: string[] = []
  const system = { ...createSystem(), writeStderr: (text: string) => void lines.push(text) }
  const context = createContext(system, read.settings)
  return { directory, lines, path: `${directory}/node-id`, find: () => findNodeIdentity(context) }
}

test("a data directory has one identity from its first start on, whoever comes first, and each start is another one", async () => {
  const { directory, path, find } = placed()
  const found = await Promise.all(Array.from({ length: 8 }, find))
  found.push(await find())
  expect(new Set(found.map(({ id }) => id)).size).toBe(1)
  expect(new Set(found.map(({ startId }) => startId)).size).toBe(9)
  expect([readdirSync(directory), readFileSync(path, "utf8").trim()]).toEqual([["node-id"], found[0]?.id ?? ""])
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  const [first] = found
  if (first !== undefined) expect(parseIdentity(formatIdentity(first))).toEqual(first)
})

test("a file that holds no identity is replaced, and where none can be kept a start is a node of its own", async () => {
  const damaged = placed()
  mkdirSync(damaged.directory)
  writeFileSync(damaged.path, "\0\0\0")
  const { id } = await damaged.find()
  expect([(await damaged.find()).id, readFileSync(damaged.path, "utf8").trim()]).toEqual([id, id])
  const blocked = tempPath("file")
  writeFileSync(blocked, "")
  const nowhere = placed(`${blocked}/data`)
  const start = await nowhere.find()
  expect(start.id).toBe(start.startId)
  expect(nowhere.lines.join("")).toContain("the id of this node cannot be kept in its data directory")
})

test("a server with SQLite is the only node, and keeps no identity", async () => {
  const { directory, find } = placed(tempPath("data"), "")
  const { id, startId } = await find()
  expect([id, readdirSync(dirname(directory)).includes("data")]).toEqual([startId, false])
})
