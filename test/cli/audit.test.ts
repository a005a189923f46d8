import { describe, expect, test } from "bun:test"
import { Command, CommanderError } from "commander"
import { registerAuditCommand } from "../../src/cli/audit.ts"
import { CommandError } from "../../src/cli/output.ts"
import { createAccount, removeAccount, setTier } from "../../src/customers/accounts/accounts.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import type { AttributedLog } from "../../src/customers/store/change-log/change-log.ts"
import { random, tempLog, tempStore } from "../customers/temp-store.ts"

/** The command over a store in which an operator and an owner have changed something. */
async function commands() {
  const log = tempLog(await tempStore())
  const changes: AttributedLog = {
    ...log,
    clock: () => log.now,
    actor: { kind: "operator", id: "ada", source: "command", keyId: null },
  }
  const made = await createAccount(changes, random, { email: "jane@example.com", tier: 0, termsVersion: null })
  if (made.kind !== "created") throw new Error(made.kind)
  const { id } = made.account
  log.now = 86_400_000
  const owner: AttributedLog = { ...changes, actor: { kind: "account", id, source: "dashboard", keyId: null } }
  const key = await createKey(owner, random, { accountId: id, kind: "secret", name: null, origins: [] })
  if (key.kind !== "created") throw new Error(key.kind)
  const out: string[] = []
  const run = async (...args: string[]) => {
    out.length = 0
    const root = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
    registerAuditCommand(root, { line: text => void out.push(text), stderrLine: () => undefined }, work =>
      work({ changes, random, defaultTier: 0 }),
    )
    const code = await root.parseAsync(["audit", ...args], { from: "user" }).then(
      () => 0,
      error => (error instanceof CommandError || error instanceof CommanderError ? 2 : Promise.reject(error)),
    )
    return { code, lines: [...out] }
  }
  const acts = async (...args: string[]) => (await run(...args, "--json")).lines.map(line => JSON.parse(line).act)
  return { log, changes, owner, id, keyId: key.key.id, run, acts }
}

test("it has one JSON object per line, the oldest first, with who, what, about whom, by which way and when", async () => {
  const { run, id, keyId } = await commands()
  expect((await run("--json")).lines.map(line => JSON.parse(line))).toEqual([
    {
      at: "1970-01-01T00:00:05.000Z",
      act: "account_created",
      account_id: id,
      details: "",
      actor: "operator",
      actor_id: "ada",
      source: "command",
      key_id: null,
    },
    {
      at: "1970-01-02T00:00:00.000Z",
      act: "key_created",
      account_id: id,
      details: keyId,
      actor: "account",
      actor_id: id,
      source: "dashboard",
      key_id: null,
    },
  ])
  expect((await run()).lines).toEqual([
    `1970-01-01T00:00:05.000Z  account_created  ${id}  by operator ada`,
    `1970-01-02T00:00:00.000Z  key_created  ${id} ${keyId}  by account ${id}`,
  ])
})

describe("what is wanted", () => {
  test("is told by time, account and kind", async () => {
    const { acts, changes, id, keyId, log } = await commands()
    const other = await createAccount(changes, random, { email: "john@example.com", tier: 0, termsVersion: null })
    if (other.kind !== "created") throw new Error(other.kind)
    log.now += 60_000
    await revokeKey(changes, keyId, "admin")
    log.now++
    await setTier(changes, other.account.id, 2)
    expect(await acts("--since", "1m").catch(() => "refused")).toEqual([])
    expect(await acts("--since", "1970-01-02T00:00:30Z")).toEqual(["key_revoked", "tier_set"])
    expect(await acts("--since", "12h")).toHaveLength(4)
    expect(await acts("--account", "Jane@example.com")).toEqual(["account_created", "key_created", "key_revoked"])
    expect(await acts("--account", id, "--act", "key_revoked")).toEqual(["key_revoked"])
  })

  test("is told of a deleted account by its id, without its email", async () => {
    const { run, acts, owner, id, log } = await commands()
    log.now++
    await removeAccount(owner, id)
    expect(await acts("--account", id)).toEqual(["account_created", "key_created", "account_deleted"])
    expect((await run("--json")).lines.join()).not.toContain("@")
  })

  test("that is no time, no account or no kind is a wrong use", async () => {
    const { run } = await commands()
    for (const args of [
      ["--since", "yesterday"],
      ["--since", "2027-13-01"],
      ["--since", "2027-02-30"],
      ["--account", "nobody@example.com"],
      ["--act", "everything"],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 2])
  })
})

test("all entries are printed, however many there are", async () => {
  const { acts, changes, id, log } = await commands()
  for (let at = 0; at < 1200; at++) {
    if (at % 7 === 0) log.now++
    await setTier(changes, id, at % 2 === 0 ? 1 : 2)
  }
  expect((await acts("--act", "tier_set")).length).toBe(1200)
})
