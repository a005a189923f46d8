import { describe, expect, test } from "bun:test"
import { showsColor } from "../../src/cli/output.ts"
import { SETTINGS } from "../../src/config/settings.ts"
import { lists } from "../support/app.ts"
import { openCommands } from "./open-commands.ts"

const commands = (stdin = "", hasColor = false) => openCommands({ stdin, hasColor })

describe("check", () => {
  test("--json gives one result for one input and a list for several", async () => {
    const { runJson } = await commands()
    expect(await runJson("check", "jane@gmail.com")).toMatchObject({ category: "personal", degraded: true })
    expect(await runJson("check", "jane@gmail.com", "stripe.com")).toMatchObject([
      { category: "personal" },
      { category: "business" },
    ])
  })

  test("each input is told with its verdict and its reasons in words", async () => {
    const { run } = await commands()
    const { code, out } = await run("check", "jane@mailinator.com", "gmial.com", "--policy", "strict")
    expect(code).toBe(0)
    expect(out).toContain("disposable, confidence")
    expect(out).toContain("did you mean gmail.com?")
    expect(out).toContain("block under strict")
  })

  test("what a terminal would obey is shown, not sent", async () => {
    const { run } = await commands()
    expect((await run("check", "\u001b[2Jjane@gmail.com")).out).not.toContain("\u001b")
  })

  test("an unknown policy is a wrong use", async () => {
    const { run } = await commands()
    expect((await run("check", "gmail.com", "--policy", "soft")).code).toBe(2)
    expect((await run("check")).code).toBe(2)
  })
})

describe("check -", () => {
  const INPUTS = "jane@gmail.com\r\n\nx@mailinator.com\nstripe.com"

  test("checks each line of the standard input, in order, and no empty one", async () => {
    const { run } = await commands(INPUTS)
    const { code, out } = await run("check", "-")
    expect(code).toBe(0)
    expect(out.split("\n").filter(line => /^\S/.test(line))).toEqual([
      "jane@gmail.com",
      "x@mailinator.com",
      "stripe.com",
    ])
  })

  test("--json gives a list, however many lines there are", async () => {
    const categories = async (stdin: string) => {
      const { runJson } = await commands(stdin)
      return (await runJson("check", "-")).map(({ category }: { category: string }) => category)
    }
    expect(await categories(INPUTS)).toEqual(["personal", "disposable", "business"])
    expect(await categories("jane@gmail.com\n")).toEqual(["personal"])
    expect(await categories("\n")).toEqual([])
  })

  test("refuses a table, whose first line names a column", async () => {
    const { run } = await commands("Name;E-Mail\nJane;jane@gmail.com\n")
    expect(await run("check", "-", "--fail-on", "block")).toMatchObject({
      ...{ code: 2, out: "" },
      err: expect.stringContaining("mailkind classify -"),
    })
  })

  test("leaves out a first line that names the only column, and says so", async () => {
    for (const header of ["email", "E-Mail", "Website"]) {
      const { run } = await commands(`\n${header}\n${INPUTS}`)
      const { code, out, err } = await run("check", "-")
      const checked = out.split("\n").filter(line => /^\S/.test(line))
      expect([header, code, ...checked]).toEqual([header, 0, "jane@gmail.com", "x@mailinator.com", "stripe.com"])
      expect(err).toContain("The first line names the column")
    }
    const { run } = await commands("email\n")
    expect(await run("check", "-", "--fail-on", "block")).toMatchObject({ code: 2, out: "" })
  })

  test("stands alone", async () => {
    const { run } = await commands(INPUTS)
    expect(await run("check", "-", "a@b.com")).toMatchObject({ code: 2, out: "" })
  })

  test("a line that is too long is invalid, and the next is checked", async () => {
    const { runJson } = await commands(`${"x".repeat(100_000)}\njane@gmail.com\n`)
    expect(await runJson("check", "-")).toMatchObject([{ reasons: ["too_long"] }, { category: "personal" }])
  })
})

describe("--fail-on", () => {
  const [ALLOWED, REVIEWED, BLOCKED] = ["stripe.com", "jane@gmail.com", "x@mailinator.com"]

  test.each([
    ["block", "lenient", [ALLOWED], 0],
    ["block", "b2b", [REVIEWED], 0],
    ["block", "b2b", [REVIEWED, BLOCKED], 3],
    ["review", "b2b", [REVIEWED], 3],
    ["review", "b2b", [BLOCKED], 3],
    ["review", "lenient", [REVIEWED], 0],
  ])("%s under %s with %j exits with %i, and prints every verdict", async (failOn, policy, inputs, expected) => {
    const { run } = await commands(inputs.join("\n"))
    for (const how of [inputs, ["-"]]) {
      const { code, out, err } = await run("check", ...how, "--fail-on", failOn, "--policy", policy)
      expect({ code, err }).toEqual({ code: expected, err: "" })
      for (const input of inputs) expect(out).toContain(`${input}\n`)
    }
  })

  test("another word is a wrong use", async () => {
    const { run } = await commands()
    expect((await run("check", "a@b.com", "--fail-on", "allow")).code).toBe(2)
  })

  test("has no verdict where the standard input has no line, which is a wrong use", async () => {
    for (const stdin of ["", "\n", " \r\n\t\n"]) {
      const { run } = await commands(stdin)
      for (const failOn of ["block", "review"]) {
        const { code, err } = await run("check", "-", "--fail-on", failOn)
        expect([code, err]).toEqual([
          2,
          "mailkind: The standard input has no line to check, so --fail-on has no verdict.",
        ])
      }
      expect(await run("check", "-")).toEqual({ code: 0, out: "", err: "" })
    }
  })
})

describe("a failure under --json", () => {
  test.each([
    [["check", "--json"], 2, "wrong_use"],
    [["check", "a@b.com", "--nope", "--json"], 2, "wrong_use"],
    [["nonsense", "--json"], 2, "wrong_use"],
    [["account", "show", "nobody@example.com", "--json"], 1, "failed"],
    [["classify", "-", "--json", "--resume"], 2, "wrong_use"],
  ])("%j is JSON on the standard error", async (args, exitCode, errorCode) => {
    const { run } = await commands()
    const { code, out, err } = await run(...args)
    expect({ code, out }).toEqual({ code: exitCode, out: "" })
    expect(JSON.parse(err)).toEqual({ error: { code: errorCode, message: expect.any(String), exit_code: exitCode } })
  })

  test("is a sentence without it, also where it is an input", async () => {
    const { run } = await commands()
    expect((await run("check", "--policy", "b2b", "--nope", "--", "--json")).err).toStartWith("error: ")
  })
})

test.each(["-V", "--version"])("%s prints the version alone", async flag => {
  const { run } = await commands()
  expect(await run(flag)).toEqual({ code: 0, out: "1.0.0", err: "" })
})

test("--version after a command is the command's own option", async () => {
  const { run } = await commands()
  const { code, err } = await run("terms", "publish", "--version", "2026-2")
  expect([code, err]).toEqual([2, "error: required option '--url <url>' not specified"])
})

describe("colours", () => {
  test("are on terminals alone, and NO_COLOR turns them off", () => {
    expect(showsColor({}, true)).toBe(true)
    expect(showsColor({}, false)).toBe(false)
    expect(showsColor({ TERM: "dumb" }, true)).toBe(false)
    expect(showsColor({ NO_COLOR: "1", FORCE_COLOR: "1" }, true)).toBe(false)
    expect(showsColor({ NO_COLOR: "" }, true)).toBe(true)
    expect(showsColor({ FORCE_COLOR: "1" }, false)).toBe(true)
    expect(showsColor({ FORCE_COLOR: "0" }, false)).toBe(false)
  })

  test("change no character of a verdict", async () => {
    const colored = await (await commands("", true)).run("check", "x@mailinator.com")
    const plain = await (await commands()).run("check", "x@mailinator.com")
    expect(colored.out).toContain("\u001b[31mblock\u001b[0m")
    expect(Bun.stripANSI(colored.out)).toBe(plain.out)
  })
})

describe("accounts and keys", () => {
  test("an account is created, shown, moved to a tier, listed and deleted", async () => {
    const { run, runJson } = await commands()
    expect(await runJson("account", "create", "Ada@Example.com")).toEqual({
      id: expect.stringMatching(/^acc_/),
      email: "ada@example.com",
      tier: 1,
    })
    expect(await runJson("account", "tier", "ada@example.com", "3")).toMatchObject({ tier: 3, previous_tier: 1 })
    expect(await runJson("account", "show", "ADA@example.com")).toMatchObject({
      tier: 3,
      keys: { active: 0, revoked: 0 },
    })
    expect(await runJson("account", "list")).toHaveLength(1)
    expect((await run("account", "delete", "ada@example.com", "--yes")).code).toBe(0)
    expect(await runJson("account", "list")).toEqual([])
  })

  test("the rules of an account are replaced, shown and taken away, and refused as the API refuses them", async () => {
    const { run, runJson } = await commands()
    await run("account", "create", "ada@example.com")
    const rules = (...args: string[]) => runJson("account", "rules", "ada@example.com", ...args)
    const none = await rules()
    expect(none).toMatchObject({ email: "ada@example.com", rules: {} })
    expect(await rules("personal=block", "new_domain=review")).toMatchObject({
      rules: { personal: "block", new_domain: "review" },
    })
    for (const wrong of [
      ["personal=allow", "personal=block"],
      ["personal"],
      ["invalid=allow"],
      ["x=block"],
      ["relay=block", "--none"],
    ])
      expect((await run("account", "rules", "ada@example.com", ...wrong)).code).toBe(2)
    expect((await run("account", "rules", "ada@example.com", "relay=allow", "relay=block")).err).toContain(
      "`relay: allow` and `relay: block`",
    )
    expect(await rules()).toMatchObject({ rules: { personal: "block", new_domain: "review" } })
    expect(await rules("relay=allow")).toMatchObject({ rules: { relay: "allow" } })
    const late = await run("account", "rules", "ada@example.com", "personal=block", "--seen", none.version, "--json")
    expect([late.code, JSON.parse(late.err).error.code]).toEqual([4, "changed_meanwhile"])
    expect(await rules("--none", "--seen", (await rules()).version)).toEqual(none)
    expect((await run("account", "rules", "nobody@example.com")).code).toBe(1)
  })

  test("a key is shown once, listed without its text, and revoked once for good", async () => {
    const { run, runJson } = await commands()
    await run("account", "create", "ada@example.com", "--tier", "4")
    const key = await runJson("key", "create", "--account", "ada@example.com", "--name", "web")
    expect(key).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{38}$/),
      kind: "secret",
      name: "web",
      last4: key.key.slice(-4),
      account_id: expect.stringMatching(/^acc_/),
      state: "active",
      origins: [],
      networks: [],
      units_per_day: null,
      requests_per_second: null,
      created_at: "1970-01-01T00:00:05.000Z",
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      revoked_by: null,
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    const listed = await run("key", "list", "--account", "ada@example.com", "--json")
    expect(listed.out).not.toContain(key.key)
    const revoked = await runJson("key", "revoke", key.id)
    expect(revoked).toMatchObject({ id: key.id, state: "revoked", revoked_by: "admin", revoked_at: key.created_at })
    expect(await runJson("key", "revoke", key.id)).toEqual(revoked)
  })

  test("the sixth key is refused", async () => {
    const { run } = await commands()
    await run("account", "create", "ada@example.com")
    const codes: number[] = []
    for (let at = 0; at < 6; at++) codes.push((await run("key", "create", "--account", "ada@example.com")).code)
    expect(codes).toEqual([0, 0, 0, 0, 0, 1])
  })

  test.each([
    [["account", "create", "nobody"], 2],
    [["account", "create", "a@b.co", "--tier", "5"], 2],
    [["account", "show", "nobody@example.com"], 1],
    [["account", "tier", "nobody@example.com", "9"], 2],
    [["key", "create"], 2],
    [["key", "create", "--account", "nobody@example.com"], 1],
    [["key", "revoke", "key_nothing"], 1],
    [["nonsense"], 2],
    [["help", "nonsense"], 2],
  ])("%j fails with a sentence and exit code %i", async (args, expected) => {
    const { run } = await commands()
    const { code, err } = await run(...args)
    expect(code).toBe(expected)
    expect(err).not.toBe("")
  })
})

describe("keys with limits", () => {
  test("are created and listed with them; a day stands for its end", async () => {
    const { run, runJson } = await commands()
    await run("account", "create", "ada@example.com")
    const options = [
      "--units-per-day",
      "50",
      "--requests-per-second",
      "3",
      "--network",
      "10.1.0.0/8",
      "--network",
      "::1",
    ]
    // The clock of these commands stands at the beginning of 1970.
    const limits = {
      expires_at: "1970-02-01T00:00:00.000Z",
      units_per_day: 50,
      requests_per_second: 3,
      networks: ["10.0.0.0/8", "::1/128"],
    }
    const key = await runJson("key", "create", "--account", "ada@example.com", "--expires", "1970-01-31", ...options)
    expect(key).toMatchObject(limits)
    expect(await runJson("key", "list", "--account", "ada@example.com")).toMatchObject([{ id: key.id, ...limits }])
    expect((await run("key", "list", "--account", "ada@example.com")).out).toContain(`expires ${limits.expires_at}`)
  })

  test("a publishable key is listed with its text, a secret one without", async () => {
    const { run, runJson } = await commands()
    await run("account", "create", "ada@example.com")
    const create = ["key", "create", "--account", "ada@example.com"]
    const { key } = await runJson(...create, "--publishable", "--origin", "https://a.example")
    await run(...create)
    const listed = await runJson("key", "list", "--account", "ada@example.com")
    expect(listed.flatMap((row: { key: string | null }) => row.key ?? [])).toEqual([key])
  })

  test.each([
    ["--expires", "yesterday"],
    ["--expires", "1969-12-31"],
    ["--expires", "2020-01-01"],
    ["--expires", "1970-02-30"],
    ["--expires", "1970-02-01T00:00:00"],
    ["--units-per-day", "0"],
    ["--units-per-day", "1e3"],
    ["--requests-per-second", "-1"],
    ["--network", "10.0.0.0/33"],
  ])("%s %s is a wrong use", async (option, value) => {
    const { run } = await commands()
    await run("account", "create", "ada@example.com")
    expect((await run("key", "create", "--account", "ada@example.com", option, value)).code).toBe(2)
  })
})

describe("lists", () => {
  test("a look-up tells sets, sources and the rule that dropped a name", async () => {
    const { run, runJson } = await commands()
    expect(await runJson("lists", "lookup", "jane@mailinator.com")).toMatchObject({
      domain: "mailinator.com",
      sets: ["disposable"],
    })
    const { out } = await run("lists", "lookup", "duck.com")
    expect(out).toContain("relay")
    expect(out).toContain("dropped: ")
    expect((await run("lists", "lookup", "no domain")).code).toBe(2)
  })

  test("the lists tell their version and are whole", async () => {
    const { run, runJson } = await commands()
    expect(await runJson("lists", "info")).toMatchObject({
      version: lists.pack.version,
      entries: lists.pack.entryCounts,
    })
    expect((await run("lists", "verify")).out).toContain("undamaged")
    expect((await run("lists", "verify", "nothing.pack")).code).toBe(1)
    // Only a checkout builds lists.
    expect((await run("lists", "build")).code).toBe(2)
  })
})

test("licences and the bill of materials are told", async () => {
  const { run, runJson } = await commands()
  expect((await run("licences")).out).toContain("elysia@")
  expect(await runJson("licences")).toMatchObject({ name: "mailkind", licence: "MIT" })
  expect(await runJson("sbom")).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" })
})

test("no control of the terminal that an argument holds is printed, in text, in JSON and in colour", async () => {
  const hostile = "\u001b]0;x\u0007\u001b[31mred\u009b2J\r\u202e\u{e0001}"
  for (const hasColor of [false, true]) {
    const { run } = await commands("", hasColor)
    for (const args of [
      ["check", hostile],
      ["check", "a@b.com", "--policy", hostile],
      ["check", "a@b.com", `--${hostile}`],
      [hostile],
      ["help", hostile],
      ["lists", "lookup", hostile],
      ["account", "create", hostile],
      ["account", "show", hostile],
      ["key", "create", "--account", hostile],
      ["block", "add", hostile],
      ["feedback", "accept", hostile],
      ["terms", "publish", "--version", hostile, "--url", hostile],
      ["completion", hostile],
      ["classify", hostile, "--out", hostile],
    ])
      for (const more of [[], ["--json"]]) {
        const { out, err } = await run(...args, ...more)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of our own
        const text = `${out}${err}`.replaceAll(/\u001b\[(?:0|1|3[123])m/g, "")
        expect([args, text.match(/(?!\n)\p{Cc}|\p{Cf}/gu)]).toEqual([args, null])
        if (more.length > 0 && out !== "") expect(() => JSON.parse(out)).not.toThrow()
      }
  }
  const { runJson } = await commands()
  // JSON holds the text itself.
  expect((await runJson("check", `${hostile}@gmail.com`)).email).toBe(`${hostile}@gmail.com`)
})

test("help names every setting, and version the version", async () => {
  const { run, runJson } = await commands()
  const { out } = await run("help", "settings")
  const [everyday = "", advanced = ""] = out.split("Advanced settings")
  for (const [name, { isAdvanced }] of Object.entries(SETTINGS))
    expect(isAdvanced ? advanced : everyday).toContain(`${name}  (default`)
  expect(await runJson("version")).toEqual({ version: "1.0.0", commit: null })
  expect((await run("help", "key", "create")).out).toContain("--account")
})
