import { expect, test } from "bun:test"
import { Command } from "commander"
import { registerInvitationCommands } from "../../../src/cli/account/invitations.ts"
import { CommandError, type Output } from "../../../src/cli/output.ts"
import { newAccount, random, tempLog, tempStore } from "../../customers/temp-store.ts"

/** The commands over a real store, and what they wrote. `isMailed`: the mail server takes every mail. */
async function commands(isMailed: boolean) {
  const lines: string[] = []
  const mailed: string[] = []
  const output: Output = { line: text => void lines.push(text), stderrLine: text => void lines.push(text) }
  const changes = tempLog(await tempStore())
  const mailInvitation = async (to: string, link: string) => {
    mailed.push(`${to} ${link}`)
    return isMailed
  }
  const run = async (...args: string[]) => {
    lines.length = 0
    const root = new Command("account").exitOverride().configureOutput({ writeErr: output.stderrLine })
    registerInvitationCommands(root, output, work =>
      work({ changes, random, defaultTier: 1, baseUrl: "https://mk.example.com", mailInvitation }),
    )
    const code = await root.parseAsync(args, { from: "user" }).then(
      () => 0,
      (error: unknown) => {
        if (!(error instanceof CommandError)) throw error
        lines.push(error.message)
        return error.exitCode
      },
    )
    return { code, out: lines.join("\n") }
  }
  return { run, mailed, changes }
}

test("account invite prints the link when it is not mailed, account invitations shows no address, and account uninvite ends it by either name", async () => {
  const { run } = await commands(false)
  const { code, out } = await run("invite", "Jane@Example.com")
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(
      /^The invitation was not emailed\. Send this link to jane@example\.com\..*\nhttps:\/\/mk\.example\.com\/invitation\?token=\w{32}$/s,
    ),
  ])
  const [listed] = JSON.parse((await run("invitations", "--json")).out)
  const listedId: string = listed.id
  expect([listedId.slice(0, 4), listed.tier]).toEqual(["inv_", 1])
  expect((await run("invitations")).out).toStartWith(listedId)
  expect((await run("invitations")).out).not.toContain("jane")
  expect((await run("uninvite", "jane@example.com")).code).toBe(0)
  expect(await run("uninvite", listedId)).toEqual({ code: 1, out: "There is no such invitation." })
  const { id } = JSON.parse((await run("invite", "jane@example.com", "--tier", "3", "--json")).out)
  expect(await run("uninvite", id)).toMatchObject({ code: 0 })
  expect(await run("invitations")).toEqual({ code: 0, out: "There are no invitations." })
})

test("account invite mails the link and does not print it then, and refuses what cannot be invited", async () => {
  const { run, mailed, changes } = await commands(true)
  await newAccount(changes, "ada@example.com")
  const { out } = await run("invite", "jane@example.com")
  expect(out).toMatch(/^The invitation of jane@example\.com is sent \(inv_\w+\)\./)
  expect(out).not.toContain("token=")
  expect(mailed).toEqual([
    expect.stringMatching(/^jane@example\.com https:\/\/mk\.example\.com\/invitation\?token=\w{32}$/),
  ])
  expect(JSON.parse((await run("invite", "joe@example.com", "--json")).out)).toMatchObject({ link: null, tier: 1 })
  expect(await run("invite", "ada@example.com")).toEqual({
    code: 1,
    out: "An account with this email exists already.",
  })
  expect(await run("invite", "ada")).toEqual({ code: 2, out: "This is not an email address." })
})
