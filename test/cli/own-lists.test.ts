import { describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Command, CommanderError } from "commander"
import { CommandError, type Output } from "../../src/cli/output.ts"
import { registerOwnListCommands } from "../../src/cli/own-lists.ts"
import { createMailkind } from "../../src/client/mailkind-client.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { createFiles } from "../../src/system/files.ts"
import { newAccount, random, tempLog, tempPath, tempStore } from "../customers/temp-store.ts"

/** The commands over a real store, with an account, and what they wrote. */
async function commands() {
  const written = { out: [] as string[], err: [] as string[] }
  const output: Output = { line: text => void written.out.push(text), stderrLine: text => void written.err.push(text) }
  const stdin = {
    kind: "read",
    text: "\ufeffx.com # a comment\r\n\r\n# none\n*.y.com\nada@z.com",
    isReadableByAll: false,
  } as const
  const changes = tempLog(await tempStore())
  await newAccount(changes, "ada@example.com")
  const run = async (...args: string[]) => {
    written.out.length = 0
    written.err.length = 0
    const root = new Command("mailkind").exitOverride().configureOutput({ writeErr: output.stderrLine })
    registerOwnListCommands(root, {
      output,
      withCustomers: work => work({ changes, random, defaultTier: 0 }),
      readInput: async (path, bytesMax) => (path === "-" ? stdin : createFiles().readTexts(path, bytesMax)),
      openServer: async ({ url }) => createMailkind({ url }),
      clock: changes.clock,
    })
    const code = await root.parseAsync(args, { from: "user" }).then(() => 0, exitCode(output))
    return { code, out: written.out.join("\n"), err: written.err.join("\n") }
  }
  return { changes, run, runJson: async (...args: string[]) => JSON.parse((await run(...args, "--json")).out) }
}

const exitCode = (output: Output) => (error: unknown) => {
  if (error instanceof CommanderError) return 2
  if (!(error instanceof CommandError)) throw error
  output.stderrLine(error.message)
  return error.exitCode
}

const ADA = ["--account", "Ada@Example.com"]

for (const list of ["block", "allow"])
  describe(list, () => {
    test("without an account the commands are about the operator's list", async () => {
      const { run } = await commands()
      expect(await run(list, "list")).toMatchObject({
        code: 0,
        out: `There are no entries on the operator's ${list} list.`,
      })
      expect(await run(list, "add", "acme.com", "*.Other.com", "ACME.com")).toEqual({
        code: 0,
        out: `2 entries added to the operator's ${list} list.`,
        err: "",
      })
      expect((await run(list, "add", "acme.com", "third.com")).out).toBe(
        `1 entry added to the operator's ${list} list; 1 entry already there.`,
      )
      expect((await run(list, "list")).out).toBe("*.other.com\nacme.com\nthird.com")
      expect((await run(list, "remove", "acme.com", "fourth.com")).out).toBe(
        `1 entry removed from the operator's ${list} list; 1 entry not there.`,
      )
      expect((await run(list, "list")).out).toBe("*.other.com\nthird.com")
    })

    test("with an account they are about that one's", async () => {
      const { run, runJson } = await commands()
      expect((await run(list, "add", "acme.com", ...ADA)).out).toBe(
        `1 entry added to the ${list} list of ada@example.com.`,
      )
      expect(await runJson(list, "list")).toEqual([])
      expect((await run(list, "list", ...ADA)).out).toBe("acme.com")
      expect((await run(list, "remove", "acme.com")).code).toBe(1)
      expect((await run(list, "remove", "acme.com", ...ADA)).code).toBe(0)
      expect((await run(list, "list", ...ADA)).out).toBe(`There are no entries on the ${list} list of ada@example.com.`)
    })

    test("answers in JSON say whose list, what was done, and when entries were added", async () => {
      const { runJson } = await commands()
      expect(await runJson(list, "add", "acme.com", "*.b.com")).toEqual({
        list,
        account: null,
        added: 2,
        already_there: 0,
      })
      expect(await runJson(list, "add", "acme.com", ...ADA)).toEqual({
        list,
        account: "ada@example.com",
        added: 1,
        already_there: 0,
      })
      expect(await runJson(list, "list")).toEqual([
        { entry: "*.b.com", kind: "subdomains", domain: "b.com", added_at: "1970-01-01T00:00:05.000Z" },
        { entry: "acme.com", kind: "domain", domain: "acme.com", added_at: "1970-01-01T00:00:05.000Z" },
      ])
      expect(await runJson(list, "remove", "acme.com", "c.com")).toEqual({
        list,
        account: null,
        removed: 1,
        not_there: 1,
      })
    })
  })

describe("addresses", () => {
  test("are shown as a hash and a domain, and are removed by themselves or by what is shown", async () => {
    const { run, runJson } = await commands()
    await run("block", "add", "Jane+x@acme.com", "joan@acme.com", "acme.com")
    const { out } = await run("block", "list")
    expect(out).not.toContain("jane")
    const lines = out.split("\n")
    expect(lines[0]).toBe("acme.com")
    for (const line of lines.slice(1))
      expect(line).toMatch(/^sha256:[0-9a-f]{64}@acme\.com {2}\(an address at acme\.com\)$/)
    expect((await run("block", "remove", "JANE+x@acme.com")).code).toBe(0)
    const [, joan] = await runJson("block", "list")
    expect(joan).toMatchObject({ kind: "address", domain: "acme.com" })
    expect((await run("block", "remove", joan.entry)).code).toBe(0)
    expect((await run("block", "list")).out).toBe("acme.com")
  })

  test("of texts that do not parse, no word is repeated", async () => {
    const { run } = await commands()
    const { code, err } = await run("block", "add", "acme.com", "jane doe@acme.com")
    expect(code).toBe(2)
    expect(err).toContain("Entry 2")
    expect(err).not.toContain("jane")
  })
})

describe("entries from elsewhere", () => {
  test("are read from the standard input, one a line, without comments and empty lines", async () => {
    const { run } = await commands()
    expect((await run("block", "add", "first.com", "-")).out).toBe("4 entries added to the operator's block list.")
    expect((await run("block", "list")).out).toContain("*.y.com")
    expect((await run("block", "remove", "-")).out).toBe("3 entries removed from the operator's block list.")
    expect((await run("block", "list")).out).toBe("first.com")
  })

  test("are read from a file, or from all files of a directory but hidden ones", async () => {
    const { run } = await commands()
    const directory = tempPath("entries.d")
    mkdirSync(join(directory, "folder"), { recursive: true })
    writeFileSync(join(directory, "b.txt"), "b.com")
    writeFileSync(join(directory, "a.txt"), "a.com\n# none\n")
    writeFileSync(join(directory, ".hidden"), "not an entry")
    await run("allow", "add", "--from", join(directory, "b.txt"))
    expect((await run("allow", "list")).out).toBe("b.com")
    await run("allow", "add", "--from", directory, "c.com")
    expect((await run("allow", "list")).out).toBe("a.com\nb.com\nc.com")
  })

  test("that are wrong are named by their lines, and nothing is added", async () => {
    const { run } = await commands()
    const path = tempPath("entries")
    writeFileSync(path, "a.com\n\njane doe@acme.com\n")
    const { code, err } = await run("block", "add", "--from", path)
    expect([code, err]).toEqual([2, expect.stringContaining("Line 3 is not an address")])
    expect(err).not.toContain("jane")
    expect((await run("block", "list")).out).toContain("no entries")
  })

  test("that cannot be read are a failure, and none at all a wrong use", async () => {
    const { run } = await commands()
    expect(await run("block", "add", "--from", tempPath("nowhere"))).toMatchObject({
      code: 1,
      err: "Nothing was changed. Cannot read the entries: there is no such file.",
    })
    const path = tempPath("large")
    writeFileSync(path, "#".repeat(LIMITS.ownListEntriesMax * LIMITS.addressBytesMax * 4 + 1))
    expect((await run("block", "add", "--from", path)).err).toContain("it has more than")
    writeFileSync(path, Buffer.from([0xff, 0xfe]))
    expect((await run("block", "add", "--from", path)).err).toContain("it is not UTF-8")
    writeFileSync(path, "# nothing\n")
    expect((await run("block", "add", "--from", path)).code).toBe(2)
  })
})

describe("what cannot be done", () => {
  test.each([
    [["block", "add"], 2],
    [["block", "add", "no domain"], 2],
    [["block", "add", "acme.com", ""], 2],
    [["block", "add", "gmail"], 2],
    [["block", "add", "*.jane@acme.com"], 2],
    [["block", "remove"], 2],
    [["block", "remove", "no domain"], 2],
    [["block", "remove", "acme.com"], 1],
    [["block", "list", "acme.com"], 2],
    [["block", "list", "--account"], 2],
    [["block", "drop"], 2],
    [["block", "add", "acme.com", "--account", "nobody@example.com"], 1],
    [["block", "remove", "acme.com", "--account", "nobody@example.com"], 1],
    [["block", "list", "--account", "nobody@example.com"], 1],
  ] as const)("%p ends with %p, says why and changes nothing", async (args, expected) => {
    const { run, changes } = await commands()
    const { code, out, err } = await run(...args)
    expect([code, out]).toEqual([expected, ""])
    expect(err).not.toBe("")
    expect(await changes.store.all("SELECT id FROM changes WHERE kind = 'own_lists_changed'")).toEqual([])
  })

  test("more entries than an owner may have are refused whole, on both lists together", async () => {
    const { run } = await commands()
    const texts = Array.from({ length: LIMITS.ownListEntriesMax }, (_, at) => `name${at}.example`)
    expect((await run("allow", "add", "acme.com")).code).toBe(0)
    const refused = await run("block", "add", ...texts)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain(`${LIMITS.ownListEntriesMax} entries`)
    expect((await run("block", "list")).out).toContain("no entries")
    expect((await run("block", "add", ...texts.slice(1))).code).toBe(0)
    expect((await run("block", "list")).out.split("\n")).toHaveLength(LIMITS.ownListEntriesMax - 1)
  })

  test("to add what is there already is done already", async () => {
    const { run } = await commands()
    await run("block", "add", "acme.com")
    expect(await run("block", "add", "acme.com")).toMatchObject({
      code: 0,
      out: "0 entries added to the operator's block list; 1 entry already there.",
    })
  })
})
