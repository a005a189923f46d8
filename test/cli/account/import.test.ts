import { describe, expect, test } from "bun:test"
import { IMPORTED_ACCOUNTS_MAX } from "../../../src/customers/accounts/import.ts"
import { openCommands } from "../open-commands.ts"

const open = (text: string) => openCommands({ files: { "new.csv": text } })
const IMPORT = ["account", "import", "new.csv"] as const

/** The wrong lines that a refusal tells, and its exit code. */
async function refused({ run, runJson }: Awaited<ReturnType<typeof open>>, ...more: string[]) {
  const { code, err, out } = await run(...IMPORT, ...more, "--json")
  expect([code, out]).toEqual([2, ""])
  expect(await runJson("account", "list")).toHaveLength(0)
  return JSON.parse(err).error
}

describe("account import", () => {
  test("creates an account for each row, by any delimiter, with the default tier where none is named", async () => {
    for (const text of [
      "email,tier\njane@example.com,3\nsam@example.com,\n",
      '\uFEFF"Email"\r\njane@example.com\r\n\r\nsam@example.com',
      "Tier;EMAIL\n3;jane@example.com\n;sam@example.com\n",
      'email\ttier\n"jane@example.com"\t3\nsam@example.com\t\n',
    ]) {
      const harness = await open(text)
      const { created, dry_run: isDry, accounts } = await harness.runJson(...IMPORT)
      expect([created, isDry, accounts.length]).toEqual([2, false, 2])
      const listed = await harness.runJson("account", "list")
      expect(listed.map(({ email }: { email: string }) => email).toSorted()).toEqual([
        "jane@example.com",
        "sam@example.com",
      ])
      const tiers = listed.map(({ tier }: { tier: number }) => tier).toSorted()
      expect(tiers).toEqual(text.includes("3") ? [1, 3] : [1, 1])
    }
  })

  test("of a file of which half is wrong creates nothing, and tells each wrong line by its number and never by its text", async () => {
    const text = [
      "email,tier",
      "jane@example.com,3",
      "no address,1",
      "sam@example.com,9",
      "Jane@Example.com,2",
      "ok@example.com,",
      "a@example.com,1,extra",
      '"b@example.com" x,1',
      "last@example.com,free",
    ].join("\n")
    const harness = await open(text)
    const { code, message, errors } = await refused(harness)
    expect([code, message]).toEqual(["wrong_use", "Nothing was created. 6 of 8 rows are wrong:"])
    expect(errors).toEqual([
      { line: 3, detail: "This is not an email address." },
      { line: 4, detail: "A tier is a number from 0 to 4." },
      { line: 5, detail: "Line 2 has the same email." },
      { line: 7, detail: "There are 3 cells, and 2 columns." },
      { line: 8, detail: "A quote is not closed, or text follows a closed one." },
      { line: 9, detail: "A tier is a number from 0 to 4." },
    ])
    expect((await refused(harness, "--dry-run")).errors).toEqual(errors)
    const { err } = await harness.run(...IMPORT)
    expect(err).toContain("\n  line 3: This is not an email address.\n  line 4: ")
    expect(err).not.toContain("@")
    expect(await harness.run("audit")).toMatchObject({ out: "" })
  })

  test("refuses an email that has an account by now", async () => {
    const { run, runJson } = await open("email\nsam@example.com\nJANE@example.com")
    await run("account", "create", "jane@example.com")
    const { code, err } = await run(...IMPORT)
    expect([code, err]).toEqual([
      2,
      "mailkind: Nothing was created. 1 of 2 rows is wrong:\n  line 3: An account with this email exists already.",
    ])
    expect(await runJson("account", "list")).toHaveLength(1)
  })

  test("--dry-run says what would be created and creates nothing, and the import does it afterwards", async () => {
    const { run, runJson } = await open("email,tier\njane@example.com,0\nsam@example.com,4\n")
    expect(await runJson(...IMPORT, "--dry-run")).toEqual({
      ...{ dry_run: true, created: 0 },
      accounts: [
        { line: 2, id: null, email: "jane@example.com", tier: 0 },
        { line: 3, id: null, email: "sam@example.com", tier: 4 },
      ],
    })
    expect((await run(...IMPORT, "--dry-run")).out).toBe("2 accounts can be created. Nothing was created.")
    expect([await runJson("account", "list"), (await run("audit")).out]).toEqual([[], ""])
    expect((await run(...IMPORT)).out).toBe("2 accounts created.")
    expect((await run("audit")).out.split("\n")).toHaveLength(2)
  })

  test.each([
    ["", "The first line must name the columns"],
    ["jane@example.com\nsam@example.com", "The first line must name the columns"],
    ["email,teir\na@example.com,1", "The first line must name the columns"],
    ["email,email\na@example.com,b@example.com", "The first line must name the columns"],
    ["tier\n1", "The first line must name the columns"],
    ["email\n\n  \n", "no row besides its header"],
    [`email\n${"a@example.com\n".repeat(IMPORTED_ACCOUNTS_MAX + 1)}`, "rows. At most"],
  ])("is a wrong use with a file that is none of accounts", async (text, says) => {
    expect((await refused(await open(text))).message).toContain(says)
  })

  test("fails on a file that cannot be read", async () => {
    const { run } = await openCommands()
    expect(await run(...IMPORT)).toMatchObject({ code: 1, err: expect.stringContaining("Cannot read the file") })
  })
})
