import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { PROGRAM } from "../../bench/servers/product.ts"
import { tempPath } from "../customers/temp-store.ts"
import { TestServer } from "../support/test-server.ts"

const directory = (mode: number): string => {
  const path = tempPath("data")
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

test.each([0o772, 0o707, 0o1777].map(mode => [mode.toString(8), mode] as const))(
  "serve refuses a data directory of mode %s, which others can write, says what to do, and writes nothing",
  async (_, mode) => {
    const path = directory(mode)
    for (const options of [[], ["--workers", "2"], ["--replace"]]) {
      const { MAILKIND_DATABASE_URL: _, ...environment } = process.env
      const child = Bun.spawn([...PROGRAM, "serve", ...options], {
        env: { ...environment, MAILKIND_DATA_DIR: path, MAILKIND_PORT: "0" },
        stdout: "pipe",
        stderr: "pipe",
      })
      const said = await new Response(child.stderr).text()
      expect(await child.exited).not.toBe(0)
      expect(said).toContain(`${path} has mode 0${(mode & 0o777).toString(8)}. Others can write to it.`)
      expect(said).toContain(`chmod 700 ${path}`)
    }
    expect(readdirSync(path)).toEqual([])
  },
)

test("serve warns of a data directory that a group can write or others can read, and creates one for its owner alone", async () => {
  const path = directory(0o755)
  for (const [dataDirectory, isWarned] of [
    [path, true],
    [directory(0o770), true],
    [join(path, "new"), false],
  ] as const) {
    await using server = new TestServer({ dataDirectory })
    await server.start()
    await server.stop()
    expect(server.log.includes("others can use the data directory")).toBe(isWarned)
  }
  expect(statSync(join(path, "new")).mode & 0o777).toBe(0o700)
})
