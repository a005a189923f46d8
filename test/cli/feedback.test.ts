import { describe, expect, test } from "bun:test"
import { Command, CommanderError } from "commander"
import { feedbackList, registerFeedbackCommands } from "../../src/cli/feedback.ts"
import { CommandError, type Output } from "../../src/cli/output.ts"
import { removeAccount } from "../../src/customers/accounts/accounts.ts"
import { CORRECTIONS_MAX } from "../../src/customers/feedback/correction-cache.ts"
import { openFeedback } from "../customers/feedback/open-feedback.ts"
import { random } from "../customers/temp-store.ts"

/** The commands over a real store, with what they wrote. */
async function commands() {
  const harness = await openFeedback()
  const written = { out: [] as string[], err: [] as string[] }
  const output: Output = { line: text => void written.out.push(text), stderrLine: text => void written.err.push(text) }
  const customers = { changes: harness.log, random, defaultTier: 0 }
  const run = async (...args: string[]) => {
    written.out.length = 0
    written.err.length = 0
    const root = new Command().exitOverride().configureOutput({ writeErr: text => output.stderrLine(text.trimEnd()) })
    registerFeedbackCommands(root, output, work => work(customers))
    try {
      await root.parseAsync(["feedback", ...args], { from: "user" })
      return { code: 0, out: written.out.join("\n"), err: written.err.join("\n") }
    } catch (error) {
      if (error instanceof CommandError) return { code: error.exitCode, out: "", err: error.message }
      if (error instanceof CommanderError) return { code: 2, out: "", err: error.message }
      throw error
    }
  }
  const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).out)
  return { ...harness, output, written, customers, run, runJson }
}

describe("list", () => {
  test("shows a report in one line: id, status, domain, categories, role word, when and comment", async () => {
    const { report, run } = await commands()
    const { id } = await report({ roleWord: "support", currentCategory: "personal", comment: "it\nis ours" })
    const { out } = await run("list")
    expect(out.split(/ {2,}/)).toEqual([
      id,
      "received",
      "example.com",
      "personal → business",
      "support",
      "1970-01-01T00:00:05.000Z",
      "it is ours",
    ])
  })

  test("shows a report without role word and comment, the newest first", async () => {
    const { log, report, run } = await commands()
    await report({ domain: "old.com" })
    log.now += 1
    await report({ domain: "new.com" })
    const lines = (await run("list")).out.split("\n")
    expect(lines).toEqual([
      expect.stringMatching(/^fb_\w+ {2}received {2}new\.com {2}unknown → business {2}- {2}1970-01-01T00:00:05\.001Z$/),
      expect.stringContaining("old.com"),
    ])
  })

  test("--status shows those alone, and an unknown status is a wrong use", async () => {
    const { report, run, runJson } = await commands()
    const { id } = await report()
    await report({ domain: "other.com" })
    await run("accept", id)
    expect(await runJson("list", "--status", "accepted")).toMatchObject([{ id }])
    expect(await runJson("list", "--status", "received")).toMatchObject([{ domain: "other.com" }])
    expect(await runJson("list", "--status", "rejected")).toEqual([])
    expect((await run("list", "--status", "rejected")).out).toBe("There are no reports with the status rejected.")
    expect((await run("list", "--status", "lost")).code).toBe(2)
  })

  test("says when there is nothing to list", async () => {
    const { run, runJson } = await commands()
    expect((await run("list")).out).toBe("There are no reports.")
    expect(await runJson("list")).toEqual([])
  })

  test("--json gives all that is kept of a report", async () => {
    const { accountId, report, runJson } = await commands()
    const { id } = await report({ roleWord: "sales", comment: "why" })
    expect(await runJson("list")).toEqual([
      {
        id,
        status: "received",
        domain: "example.com",
        current_category: "unknown",
        reported_category: "business",
        role_word: "sales",
        comment: "why",
        account_id: accountId,
        created_at: "1970-01-01T00:00:05.000Z",
        decided_at: null,
      },
    ])
  })

  test("what a terminal would obey is shown, not sent", async () => {
    const { store, report, run } = await commands()
    await report({ comment: "x" })
    await store.run("UPDATE feedback SET comment = $1, domain = $1, role_word = $1", ["\u001b[2J\u202e"])
    const { out } = await run("list")
    expect(out).toContain("\\u001b[2J\\u202e")
    expect(out).not.toContain("\u001b")
  })

  test("goes on to further pages, and says when there are more reports than it shows", async () => {
    const { store, accountId, output, written, customers, runJson } = await commands()
    await store.run(
      `WITH RECURSIVE count (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM count WHERE at < 1001)
       INSERT INTO feedback (id, account_id, domain, current_category, reported_category, status, created_at_ms)
       SELECT 'fb_' || at, $1, 'd' || at || '.com', 'unknown', 'relay', 'received', at FROM count`,
      [accountId],
    )
    expect(await runJson("list")).toHaveLength(1001)
    for (const [shownMax, expected] of [
      [1000, 1],
      [1001, 0],
    ] as const) {
      written.out.length = 0
      written.err.length = 0
      await feedbackList(output, customers, shownMax, { json: false })
      expect(written.out).toHaveLength(shownMax)
      expect(written.out[0]).toStartWith("fb_1001 ")
      expect(written.err).toHaveLength(expected)
    }
  })
})

describe("accept and reject", () => {
  test("an accepted report is a correction until it is rejected, and each says so once", async () => {
    const { log, report, run, corrections } = await commands()
    const { id } = await report()
    expect((await run("accept", id)).out).toBe("The report is accepted. example.com is corrected to business.")
    expect(await corrections()).toHaveLength(1)
    log.now += 1000
    expect((await run("accept", id)).out).toBe(
      "The report has been accepted since 1970-01-01T00:00:05.000Z. example.com is corrected to business.",
    )
    expect(await run("reject", id)).toMatchObject({ code: 4, err: expect.stringContaining("add --seen accepted") })
    expect(await corrections()).toHaveLength(1)
    expect((await run("reject", id, "--seen", "accepted")).out).toBe(
      "The report is rejected. example.com has no correction.",
    )
    expect(await corrections()).toEqual([])
    expect((await run("reject", id)).out).toBe(
      "The report has been rejected since 1970-01-01T00:00:06.000Z. example.com has no correction.",
    )
  })

  test("--json tells the report, whether anything changed, and the correction", async () => {
    const { report, runJson } = await commands()
    const { id } = await report()
    const decided_at = "1970-01-01T00:00:05.000Z"
    const accepted = { id, status: "accepted", decided_at, correction: "business" }
    expect(await runJson("accept", id)).toMatchObject({ ...accepted, changed: true })
    expect(await runJson("accept", id)).toMatchObject({ ...accepted, changed: false })
    const rejected = { id, status: "rejected", changed: true, correction: null }
    expect(await runJson("reject", id, "--seen", "accepted")).toMatchObject(rejected)
  })

  test("the correction of a report that went with its account can be taken back", async () => {
    const { log, accountId, report, run, runJson, corrections } = await commands()
    const [one, other] = [await report(), await report({ domain: "other.com" })]
    for (const { id } of [one, other]) await run("accept", id)
    await removeAccount(log, accountId)
    expect((await run("reject", one.id)).out).toContain("example.com has no correction.")
    expect(await runJson("reject", other.id)).toEqual({
      id: other.id,
      status: "rejected",
      domain: "other.com",
      changed: true,
      correction: null,
    })
    expect(await corrections()).toEqual([])
    expect((await run("reject", one.id)).code).toBe(1)
  })

  test("an unknown report is a failure, a missing id a wrong use", async () => {
    const { run } = await commands()
    for (const command of ["accept", "reject"]) {
      expect(await run(command, "fb_none")).toMatchObject({ code: 1, err: expect.stringContaining("feedback list") })
      expect((await run(command)).code).toBe(2)
    }
  })

  test("one correction too many is a failure", async () => {
    const { store, report, run } = await commands()
    const { id } = await report()
    await store.run(
      `WITH RECURSIVE count (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM count WHERE at < $1)
       INSERT INTO corrections SELECT 'd' || at || '.com', 'personal', 'fb_x', 1 FROM count`,
      [CORRECTIONS_MAX],
    )
    expect(await run("accept", id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("number of corrections has reached its limit"),
    })
  })
})
