import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { startCallers } from "../../support/callers.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { alone, build, serving } from "./executable.ts"

setDefaultTimeout(180_000)

let own: ReturnType<typeof alone>
beforeAll(async () => {
  await build()
  own = alone()
})
afterAll(() => own.remove())

const PORT = { MAILKIND_PORT: "0" }

describe("the executable", () => {
  test("looks at itself beside its own server, and tells a program what it saw", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /curl [^\n]*\n/)
    const names = ["settings", "directory", "database", "dns", "clock", "lists", "port", "outbox"]
    const settings = { MAILKIND_PORT: new URL(url).port }
    const { out, code } = await own.run(["doctor", "--json", "--running", "--only", ...names], settings)
    const { verdict, examinations } = JSON.parse(out)
    expect([code, verdict]).toEqual([0, "ok"])
    expect(examinations.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict])).toEqual(
      names.map(name => [name, ["dns", "clock"].includes(name) ? "skipped" : "ok"]),
    )
    expect(await child.stop()).toMatchObject({ code: 0 })
    const setTimer = await own.run(["doctor", "--running", "--only", "port"], settings)
    expect([setTimer.code, setTimer.out]).toEqual([1, expect.stringMatching(/^port +failed +No server answers/)])
  })

  test("backs its database up while it serves, refuses to restore it then, and restores it afterwards", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /\n/)
    const { key, id } = JSON.parse((await own.run(["key", "create", "--account", "owner@localhost", "--json"])).out)
    const backup = join(own.directory, "backup.sqlite")
    expect(JSON.parse((await own.run(["backup", backup, "--json"])).out)).toMatchObject({ accounts: 1, keys: 2 })
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    await own.run(["account", "create", "late@example.com"])
    expect(await own.run(["restore", backup])).toMatchObject({
      code: 1,
      err: expect.stringContaining("held the database"),
    })
    expect((await askLoopback(`${url}/v1/check?domain=stripe.com`, { headers: { "X-API-Key": key } })).status).toBe(200)
    await own.run(["key", "revoke", id])
    await child.stop()
    const restored = JSON.parse((await own.run(["restore", backup, "--json"])).out)
    expect(restored).toMatchObject({ accounts: 1, carried_over: { revoked_keys: 1, lost_accounts: 1 } })
    expect(existsSync(restored.kept_as)).toBe(true)
    const again = own.start(["serve"], PORT)
    const { url: address } = await serving(again, /\n/)
    const refused = await askLoopback(`${address}/v1/check?domain=stripe.com`, { headers: { "X-API-Key": key } })
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([401, "key_revoked"])
    expect(readFileSync(backup).subarray(0, 15).toString()).toBe("SQLite format 3")
    expect(await again.stop()).toMatchObject({ code: 0 })
  })

  test.skipIf(process.platform !== "linux")("takes over from itself without losing an answer", async () => {
    const port = freePort()
    const settings = { MAILKIND_PORT: String(port) }
    const old = own.start(["serve", "--replace"], settings)
    await serving(old, /\n/)
    const callers = startCallers(port, "/v1/health", { count: 12, pauseMs: 20 }, false)
    await callers.got(100)
    const next = own.start(["serve", "--replace"], settings)
    await serving(next, /\n/)
    expect(await old.ended()).toMatchObject({ code: 0 })
    expect((await callers.stop()).lost).toEqual([])
    expect(await next.stop()).toMatchObject({ code: 0 })
  })
})
