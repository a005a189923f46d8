import { describe, expect, test } from "bun:test"
import { Command, CommanderError } from "commander"
import { CommandError } from "../../src/cli/output.ts"
import { registerTermsCommands } from "../../src/cli/terms.ts"
import { newAccount, random, tempLog, tempStore } from "../customers/temp-store.ts"

const URL = "https://example.com/terms"

/** The commands about terms over a real store, with what they wrote and the code that they would exit with. */
async function commands() {
  const changes = tempLog(await tempStore())
  changes.now = Date.UTC(2026, 2, 1, 12)
  const out: string[] = []
  const output = { line: (text: string) => void out.push(text), stderrLine: (text: string) => void out.push(text) }
  const run = async (...args: string[]) => {
    out.length = 0
    const root = new Command("mailkind").exitOverride().configureOutput({ writeErr: output.stderrLine })
    registerTermsCommands(root, output, work => work({ changes, random, defaultTier: 0 }))
    try {
      await root.parseAsync(["terms", ...args], { from: "user" })
      return { code: 0, out: out.join("\n") }
    } catch (failure) {
      if (failure instanceof CommandError) return { code: failure.exitCode, out: failure.message }
      if (failure instanceof CommanderError) return { code: 2, out: out.join("\n") }
      throw failure
    }
  }
  const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).out)
  const publish = (version: string, ...more: string[]) => run("publish", "--version", version, "--url", URL, ...more)
  return { changes, run, runJson, publish }
}

describe("terms publish", () => {
  test("--json gives the terms as they are published", async () => {
    const { runJson } = await commands()
    const args = ["publish", "--version", "2026-03", "--url", "https://Example.com/terms", "--material"]
    const published = {
      version: "2026-03",
      url: URL,
      is_material: true,
      published_at: "2026-03-01T12:00:00.000Z",
      withdrawn_at: null,
    }
    expect(await runJson(...args)).toEqual(published)
    expect(await runJson("publish", "--version", "2", "--url", URL)).toMatchObject({ is_material: false })
  })

  test("a person is told when the notice ends, and only when there is one", async () => {
    const { publish } = await commands()
    expect((await publish("1", "--material")).out).toContain("before 2026-03-31T12:00:00.000Z")
    expect((await publish("2")).out).toBe("Version 2 is published.")
  })

  test("accounts that no mail reaches are counted, where there is something to tell them", async () => {
    const { changes, publish, runJson } = await commands()
    for (const email of ["jane@example.com", "owner@localhost", "x@a.localhost", "y@b.invalid"])
      await newAccount(changes, email)
    expect((await publish("1", "--material")).out).toContain("3 accounts have no address that gets mail")
    expect((await publish("2")).out).toBe("Version 2 is published.")
    const again = ["publish", "--version", "1", "--url", URL, "--material"]
    expect(await runJson(...again)).toMatchObject({ accounts_without_mail: 3 })
  })

  test("the same terms twice are published once", async () => {
    const { changes, publish, runJson } = await commands()
    await publish("1")
    changes.now += 1000
    const { code, out } = await publish("1")
    expect({ code, out }).toEqual({ code: 0, out: "Version 1 was published 2026-03-01T12:00:00.000Z." })
    expect((await runJson("show")).versions).toHaveLength(1)
  })

  test("other terms under the same version are a failure, a bad version or URL is a wrong use", async () => {
    const { run, publish, runJson } = await commands()
    await publish("1")
    expect(await publish("1", "--material")).toMatchObject({ code: 1, out: expect.stringContaining("another version") })
    expect((await publish("1 b")).code).toBe(2)
    expect((await run("publish", "--version", "2", "--url", "example.com")).code).toBe(2)
    expect((await run("publish", "--version", "2")).code).toBe(2)
    expect((await run("publish", "--url", URL)).code).toBe(2)
    expect((await runJson("show")).versions).toHaveLength(1)
  })
})

describe("terms withdraw", () => {
  test("takes back the current terms while their notice runs, once, and says how many were mailed", async () => {
    const { changes, publish, run, runJson } = await commands()
    await newAccount(changes, "a@x.com")
    changes.now += 1
    await publish("1", "--material")
    await changes.store.run("UPDATE outbox SET ending = 'sent', ended_at_ms = 1")
    changes.now += 1000
    const withdrawn = { version: "1", withdrawn_at: "2026-03-01T12:00:01.001Z", accounts_mailed: 1 }
    expect(await runJson("withdraw", "1")).toMatchObject({ ...withdrawn, changed: true })
    expect(await runJson("withdraw", "1")).toMatchObject({ ...withdrawn, changed: false })
    expect((await run("withdraw", "1")).out).toBe(
      "Version 1 was withdrawn 2026-03-01T12:00:01.001Z.\n1 account was mailed about it. Tell their owners that it does not hold.",
    )
    expect(await runJson("show")).toMatchObject({
      versions: [{ withdrawn_at: withdrawn.withdrawn_at }],
      accounts_to_accept: 0,
    })
    expect((await run("show")).out).toContain("1  withdrawn  ")
    expect((await publish("1", "--material")).code).toBe(1)
  })

  test("refuses terms that hold, that are not the current ones, and that are not there", async () => {
    const { changes, publish, run } = await commands()
    await publish("1", "--material")
    changes.now += 1
    await publish("2")
    for (const [version, says] of [
      ["1", "Version 2 was published after it."],
      ["2", "Version 2 holds already."],
      ["3", "There is no such version."],
    ] as const)
      expect(await run("withdraw", version)).toMatchObject({ code: 1, out: expect.stringContaining(says) })
  })
})

describe("terms show", () => {
  test("versions are shown newest first, with the count of accounts that have yet to accept", async () => {
    const { changes, publish, run, runJson } = await commands()
    await newAccount(changes, "a@x.com")
    await newAccount(changes, "b@x.com")
    changes.now += 1
    await publish("1", "--material")
    expect((await run("show")).out).toContain("2 accounts must still accept")
    await run("accept", "--account", "a@x.com")
    await publish("2")
    expect(await runJson("show")).toEqual({
      versions: [
        { version: "2", url: URL, is_material: false, published_at: "2026-03-01T12:00:00.002Z", withdrawn_at: null },
        { version: "1", url: URL, is_material: true, published_at: "2026-03-01T12:00:00.001Z", withdrawn_at: null },
      ],
      accounts_to_accept: 1,
    })
    const { out } = await run("show")
    expect(out.split("\n")).toEqual([
      `2  not material  2026-03-01T12:00:00.002Z  ${URL}`,
      `1  material      2026-03-01T12:00:00.001Z  ${URL}`,
      "1 account must still accept material terms.",
    ])
  })

  test("that there are none is said, and is no failure", async () => {
    const { run, runJson } = await commands()
    expect(await run("show")).toEqual({ code: 0, out: "No terms are published." })
    expect(await runJson("show")).toEqual({ versions: [], accounts_to_accept: 0 })
  })
})

describe("terms accept", () => {
  test("an account accepts the current version, once", async () => {
    const { changes, publish, run, runJson } = await commands()
    const id = await newAccount(changes, "a@x.com")
    changes.now += 1
    await publish("1", "--material")
    changes.now += 1
    const accepted = { id, email: "a@x.com", version: "1", accepted_at: "2026-03-01T12:00:00.002Z" }
    expect(await runJson("accept", "--account", "A@X.com")).toEqual(accepted)
    changes.now += 1
    expect(await runJson("accept", "--account", "a@x.com")).toEqual(accepted)
    expect((await run("accept", "--account", "a@x.com")).out).toContain("a@x.com has accepted version 1")
    expect(await runJson("show")).toMatchObject({ accounts_to_accept: 0 })
  })

  test("that there is nothing to accept is said, and is no failure", async () => {
    const { changes, run, runJson } = await commands()
    const id = await newAccount(changes, "a@x.com")
    expect(await run("accept", "--account", "a@x.com")).toMatchObject({
      code: 0,
      out: expect.stringContaining("No terms"),
    })
    expect(await runJson("accept", "--account", "a@x.com")).toEqual({
      id,
      email: "a@x.com",
      version: null,
      accepted_at: null,
    })
  })

  test("an unknown account is a failure, a missing one a wrong use", async () => {
    const { run } = await commands()
    expect((await run("accept", "--account", "nobody@x.com")).code).toBe(1)
    expect((await run("accept")).code).toBe(2)
  })
})
