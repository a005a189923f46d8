import { expect, test } from "bun:test"
import { listActsSince } from "../../../../src/customers/audit/audit.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { newAccount, random } from "../../../customers/temp-store.ts"
import { openAdmin } from "./open-admin.ts"

/** The pages of an administrator and of Jane, and the acts that were recorded since. */
async function opened() {
  const admin = await openAdmin()
  const { changes, store, signIn } = admin
  const id = await newAccount(changes, "jane@example.com", 4)
  const made = await createKey(changes, random, { accountId: id, kind: "secret", name: null, origins: [] })
  if (made.kind !== "created") throw new Error(made.kind)
  const jane = await signIn(id)
  await store.run("DELETE FROM admin_acts")
  const acts = async () => {
    const found = await listActsSince(store, { sinceMs: 0, accountId: null, kind: null }, null, 100)
    return found.map(({ kind, actorKind, actorId, source, keyId }) => ({ kind, actorKind, actorId, source, keyId }))
  }
  return { ...admin, id, jane, key: made, acts }
}

test("what an owner does on the pages is theirs, by the dashboard", async () => {
  const { id, jane, key, form, acts } = await opened()
  const path = `/dashboard/keys/${key.key.id}`
  await form(`${path}/settings`, { name: "Server" }, jane)
  await form("/dashboard/list-entries", { list: "block", list_action: "add", entries: "jane@acme.com" }, jane)
  await form("/dashboard/account/emails", {}, jane)
  const byJane = { actorKind: "account", actorId: id, source: "dashboard", keyId: null }
  const found = await acts()
  expect(found.map(({ kind }) => kind).toSorted()).toEqual(["entries_added", "key_renamed", "mails_switched"])
  for (const act of found) expect(act).toMatchObject(byJane)
})

test("what an administrator does is theirs, and not of the account that it is about", async () => {
  const { id, accountId, done, acts } = await opened()
  await done(`/admin/accounts/${id}/tier`, { tier: "1" })
  await done(`/admin/accounts/${id}/suspend`, { reason: "" })
  const found = await acts()
  expect(found.map(({ kind }) => kind).toSorted()).toEqual(["account_suspended", "tier_set"])
  for (const act of found)
    expect(act).toMatchObject({ actorKind: "admin", actorId: accountId, source: "admin_pages", keyId: null })
})

test("what a key does is of its account, with the key", async () => {
  const { id, key, ask, acts } = await opened()
  await ask("POST /v1/feedback", {
    key: key.text,
    body: { domain: "granite-works.com", expected_category: "business" },
  })
  await ask("POST /v1/callback-secret", { key: key.text })
  const found = await acts()
  expect(found.map(({ kind }) => kind).toSorted()).toEqual(["callback_secret_made", "report_made"])
  for (const act of found)
    expect(act).toMatchObject({ actorKind: "account", actorId: id, source: "api", keyId: key.key.id })
})

test("no entry of a list and no address is in the table", async () => {
  const { jane, form, store } = await opened()
  await form("/dashboard/list-entries", { list: "block", list_action: "add", entries: "jane@acme.com\nacme.org" }, jane)
  const rows = JSON.stringify(await store.all("SELECT * FROM admin_acts"))
  for (const text of ["@", "acme"]) expect(rows).not.toContain(text)
})

test("the audit log is filtered by person, activity, account and day, and keeps what is filtered by in its fields", async () => {
  const { id, page, form } = await opened()
  await form(`/admin/accounts/${id}/tier`, { tier: "1" })
  await form(`/admin/accounts/${id}/suspend`, { reason: "" })
  const found = async (query: string) =>
    [...(await page(`/admin/acts?${query}`)).html.matchAll(/<th scope="row"[^>]*>([^<]*) </g)].map(([, label]) => label)
  const both = ["Account suspended", "Tier changed"]
  expect((await found("")).toSorted()).toEqual(both)
  expect((await found("by=owner%40localhost")).toSorted()).toEqual(both)
  expect((await found("account=JANE%40example.com")).toSorted()).toEqual(both)
  expect(await found("act=tier_set")).toEqual(["Tier changed"])
  for (const none of ["by=root", "account=owner%40localhost", "act=key_revoked", "from=2026-01-02", "to=2025-12-31"])
    expect({ none, found: await found(none) }).toEqual({ none, found: [] })
  for (const ignored of ["act=nothing", "from=yesterday"]) expect(await found(ignored)).toHaveLength(2)
  const { html } = await page("/admin/acts?act=tier_set&by=owner%40localhost")
  for (const part of ['value="tier_set" selected', 'value="owner@localhost"', 'href="/admin/acts">Clear'])
    expect(html).toContain(part)
})

test("the audit log of one account has what its owner changed, and its page shows ten entries and the way to more", async () => {
  const { id, jane, key, page, form } = await opened()
  for (let at = 0; at < 11; at++) await form(`/dashboard/keys/${key.key.id}/settings`, { name: `Server ${at}` }, jane)
  const renamed = async (path: string) =>
    (await page(path)).html.match(/<th scope="row"[^>]*>Key renamed/g)?.length ?? 0
  expect(await renamed(`/admin/accounts/${id}`)).toBe(10)
  expect((await page(`/admin/accounts/${id}`)).html).toContain(`href="/admin/acts?account=${id}"`)
  expect(await renamed(`/admin/acts?account=${id}`)).toBe(11)
  expect(await renamed("/admin/acts")).toBe(0)
})

test("an entry has the beginning of an id, with the whole as its title, and an exact time", async () => {
  const { jane, key, page, form, id } = await opened()
  await form(`/dashboard/keys/${key.key.id}/settings`, { name: "Server" }, jane)
  const { html } = await page(`/admin/acts?account=${id}`)
  expect(html).toContain(`title="${key.key.id}">${key.key.id.slice(0, 8)}…</span>`)
  expect(html).toMatch(/<time dateTime="[^"]*" data-exact[^>]*>00:00<\/time>/i)
})
