import { afterAll, beforeAll } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { endPostgres } from "./support/postgres-databases.ts"
import { RUN_DIRECTORY, runDirectory } from "./support/run-directory.ts"
import { noteFile } from "./support/running-files.ts"

// `verify` has built it; `bun test FILE` in a new checkout has not.
if (!existsSync(join(import.meta.dir, "../data/build/inventory.json.asset")))
  await (await import("../scripts/licences/build.ts")).buildLicences()

/** Tests ask no network: whoever calls `fetch` in the test process fails. Loopback servers are asked by their own clients. */
beforeAll(() => {
  const refuse = (input: string | URL | Request, init?: BunFetchRequestInit): Promise<never> => {
    // What a start asks to have its thread leads nowhere.
    if (init?.unix === "/dev/null") return Promise.reject(new TypeError("it is no socket"))
    throw new Error(`a test asked the network for ${input instanceof Request ? input.url : input}`)
  }
  globalThis.fetch = Object.assign(refuse, { preconnect: (url: string | URL) => void refuse(url) })
})

// The runner of all tests has a directory and servers for them, which outlive this process, and watches that each file ends.
const shared = process.env[RUN_DIRECTORY]
if (shared === undefined) {
  const directory = runDirectory()
  process.env["TMPDIR"] = directory.path
  afterAll(directory.remove)
  afterAll(endPostgres)
} else {
  let endNote = (): void => undefined
  beforeAll(() => {
    endNote = noteFile(shared, Bun.main)
  })
  afterAll(() => endNote())
}
