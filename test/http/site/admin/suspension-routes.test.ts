import { describe, expect, test } from "bun:test"
import { POLICY_DEFAULT } from "../../../../src/contract/policies.ts"
import { findAccount, removeAccount } from "../../../../src/customers/accounts/accounts.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { newAccount, random } from "../../../customers/temp-store.ts"
import { formIn } from "../../../support/html-browser.ts"
import { HOSTILE, unescapeHtml } from "../../../support/open-site.ts"
import { openAdmin } from "./open-admin.ts"

async function opened() {
  const admin = await openAdmin()
  const { changes, store, signIn } = admin
  const id = await newAccount(changes, "jane@example.com", 4)
  const keyOf = async (origins: readonly string[]) => {
    const kind = origins.length > 0 ? "publishable" : "secret"
    const made = await createKey(changes, random, { accountId: id, kind, name: null, origins })
    if (made.kind !== "created") throw new Error(made.kind)
    return { id: made.key.id, last4: made.key.last4, text: made.text }
  }
  const path = `/admin/accounts/${id}`
  const suspend = (reason = "") => admin.done(`${path}/suspend`, { reason })
  return { ...admin, id, path, suspend, keyOf, store, asJane: () => signIn(id) }
}

describe("a suspended account", () => {
  test("has all of its keys refused at once, and works again as soon as it is resumed", async () => {
    const { suspend, keyOf, ask, done, path, store, id } = await opened()
    const [secret, publishable] = [await keyOf([]), await keyOf(["https://shop.example"])]
    const check = (key: string) =>
      ask("POST /v1/check", { key, body: { domain: "gmail.com" }, headers: { Origin: "https://shop.example" } })
    for (const { text } of [secret, publishable]) expect((await check(text)).status).toBe(200)
    expect((await suspend("Too many reports.")).text).toContain("Account suspended.")
    for (const { text } of [secret, publishable]) {
      const { status, body } = await check(text)
      expect({ status, code: body["code"] }).toEqual({ status: 401, code: "key_revoked" })
      expect(body["detail"]).toContain("suspended")
    }
    for (const line of ["POST /v1/check/batch", "POST /v1/feedback", "GET /v1/usage"])
      expect((await ask(line, { key: secret.text })).body).toMatchObject({ code: "key_revoked" })
    await done(`${path}/resume`)
    for (const { text } of [secret, publishable]) expect((await check(text)).status).toBe(200)
    const mails = await store.all<{ notice: string }>("SELECT notice FROM outbox WHERE account_id = $1", [id])
    const notices = mails.map(({ notice }) => notice)
    expect(notices).toEqual(expect.arrayContaining(["account_suspended", "account_resumed"]))
  })

  test("can be read by its owner, who is told since when and why, and checks nothing", async () => {
    const { suspend, page, form, asJane } = await opened()
    await suspend(HOSTILE)
    const jane = await asJane()
    for (const path of ["/dashboard/account", "/dashboard/try", "/dashboard/feedback"]) {
      const { status, text, html } = await page(path, jane)
      expect({ path, status }).toEqual({ path, status: 200 })
      expect(text).toContain("Your account is suspended , since 1 Jan 2026, 00:00 UTC")
      expect(html).not.toContain("<script>alert")
      expect(unescapeHtml(html)).toContain(HOSTILE)
    }
    const tried = await form("/dashboard/try", { asked: "gmail.com", policy: POLICY_DEFAULT }, jane)
    expect(tried.status).toBe(401)
    expect(tried.text).toContain("The account of this key is suspended")
    expect(tried.html).toContain('value="gmail.com"')
  })

  test("is shown as such in the list and on its page, with the form that resumes it", async () => {
    const { suspend, page, path, form } = await opened()
    await suspend("Abuse.")
    expect((await page("/admin/accounts")).text).toContain("jane@example.com suspended")
    const { text, html } = await page(path)
    expect(text).toContain("Suspended since 1 Jan 2026, 00:00 UTC . Its keys are refused. Reason: Abuse.")
    expect(text).toContain("Account suspended owner@localhost")
    expect(formIn(html, "Resume the account").path).toBe(`${path}/resume`)
    expect(html).not.toContain(`${path}/suspend`)
    expect((await form(`${path}/suspend`, { reason: "Another one." })).redirectPath).toEndWith("done=suspended-before")
    expect((await page(path)).text).not.toContain("Another one.")
    await form(`${path}/resume`)
    expect((await form(`${path}/resume`)).redirectPath).toEndWith("done=resumed-before")
  })

  test("is not made of a reason that is too long, which is kept", async () => {
    const { form, path, store, id } = await opened()
    const { status, text, html } = await form(`${path}/suspend`, { reason: "a".repeat(501) })
    expect(status).toBe(400)
    expect(text).toContain("This reason is too long.")
    expect(html).toContain("a".repeat(501))
    expect(await findAccount(store, id)).not.toHaveProperty("suspendedAtMs")
  })
})

describe("an administrator", () => {
  test("cannot suspend or delete the own account by mistake", async () => {
    const { accountId, page, form, store } = await opened()
    const path = `/admin/accounts/${accountId}`
    const { html } = await page(path)
    expect(html).not.toContain("/suspend")
    expect(html).not.toContain(`${path}/delete`)
    expect((await form(`${path}/suspend`)).status).toBe(400)
    expect((await page(`${path}/delete`)).status).toBe(400)
    expect((await form(`${path}/delete`, { email: "owner@localhost" })).status).toBe(400)
    expect(await findAccount(store, accountId)).not.toHaveProperty("suspendedAtMs")
  })

  test("finds accounts by domain and by the last four characters of a key", async () => {
    const { keyOf, page, changes } = await opened()
    await newAccount(changes, "mia@bücher.example")
    const { last4 } = await keyOf([])
    const found = async (search: string) =>
      [
        ...(await page(`/admin/accounts?email=${encodeURIComponent(search)}`)).html.matchAll(
          />([^<>]+)(?:<\/bdi>)?<\/a>(?:<\/bdi>)?<\/th>/g,
        ),
      ].map(([, email]) => email)
    expect(await found(last4)).toEqual(["jane@example.com"])
    expect(await found("@example.com")).toEqual(["jane@example.com"])
    expect(await found("EXAMPLE.com")).toEqual(["jane@example.com"])
    expect(await found("bücher.example")).toEqual(["mia@xn--bcher-kva.example"])
    expect(await found("@localhost")).toEqual(["owner@localhost"])
    expect(await found("xample.com")).toEqual([])
  })
})

describe("a note", () => {
  test("is saved and shown as text to administrators only", async () => {
    const { done, page, path, form, asJane } = await opened()
    const sent = formIn((await page(path)).html, "Save the note")
    const note = `</textarea>${HOSTILE}\r\nsecond line`
    const { html, text } = await done(sent.path, { ...sent.fields, note })
    expect(text).toContain("Note saved.")
    expect(html).not.toContain("<script>alert")
    expect(unescapeHtml(html)).toContain(HOSTILE)
    expect((await page("/dashboard/account", await asJane())).html).not.toContain("second line")
    const other = await form(sent.path, { ...sent.fields, note: "of another" })
    expect(other.status).toBe(400)
    expect(other.text).toContain("Another administrator changed this note")
    expect(other.html).toContain("of another")
    const again = formIn(other.html, "Save the note")
    expect((await form(again.path, { ...again.fields, note: "of another" })).status).toBe(303)
  })
})

describe("the deletion of an account", () => {
  test("asks for its email, then deletes it and all of its keys, and is in the audit log", async () => {
    const { page, done, path, keyOf, ask, store, id } = await opened()
    const key = await keyOf([])
    const confirmation = await page(`${path}/delete`)
    expect(confirmation.text).toContain("You cannot undo this.")
    const wrong = formIn(confirmation.html, "Delete the account")
    const { text } = await done(wrong.path, { ...wrong.fields, email: " JANE@example.com " })
    expect(text).toContain("Account deleted.")
    expect((await ask("GET /v1/usage", { key: key.text })).body).toMatchObject({ code: "invalid_key" })
    expect(await findAccount(store, id)).toBeNull()
    const log = (await page("/admin/acts")).text
    expect(log).toContain(`00:00 Account deleted ${id} (deleted) owner@localhost`)
    expect(log).not.toContain("jane@example.com")
  })

  test("does nothing with another email, and keeps what was typed", async () => {
    const { form, path, store, id } = await opened()
    for (const email of ["", "john@example.com", HOSTILE]) {
      const { status, text, html } = await form(`${path}/delete`, { email })
      expect(status).toBe(400)
      expect(text).toContain("This is not the email of the account.")
      expect(html).not.toContain("<script>alert")
    }
    expect(await findAccount(store, id)).not.toBeNull()
  })

  test("by two administrators at once is done once", async () => {
    const { form, path, store } = await opened()
    const answers = await Promise.all([1, 2].map(() => form(`${path}/delete`, { email: "jane@example.com" })))
    for (const { status } of answers) expect([303, 404]).toContain(status)
    const acts = await store.all("SELECT id FROM admin_acts WHERE act = 'account_deleted'")
    expect(acts).toHaveLength(1)
  })

  test.each(["suspend", "resume", "note", "delete"])("that was done meanwhile makes %s not found", async form => {
    const house = await opened()
    await removeAccount(house.changes, house.id)
    expect((await house.form(`${house.path}/${form}`, { email: "jane@example.com" })).status).toBe(404)
  })
})

test("the audit log is empty at first, takes any cursor, and goes on from page to page", async () => {
  const { page, form, path, store } = await opened()
  await store.run("DELETE FROM admin_acts")
  expect((await page("/admin/acts")).text).toContain("Nothing yet.")
  for (const after of ["x", "1.act_", HOSTILE, "9".repeat(400)])
    expect((await page(`/admin/acts?after=${encodeURIComponent(after)}`)).text).toContain("Nothing yet.")
  for (let at = 0; at < 60; at++) await form(`${path}/tier`, { tier: String(at % 2) })
  const first = await page("/admin/acts")
  const next = /href="(\/admin\/acts\?after=[^"]+)"/.exec(first.html)?.[1] ?? ""
  expect(first.html.match(/<th scope="row"[^>]*>Tier changed/g)).toHaveLength(25)
  expect((await page(next)).html.match(/<th scope="row"[^>]*>Tier changed/g)).toHaveLength(25)
  const filtered = await page("/admin/acts?act=tier_set")
  expect(filtered.text).toContain("More than 25 entries. Clear the filter")
  const second = /href="(\/admin\/acts\?[^"]*after=[^"]+)"/.exec(filtered.html)?.[1] ?? ""
  expect((await page(second.replaceAll("&amp;", "&"))).text).toContain("25 entries on this page. Clear the filter")
  // The day stands once, where it begins.
  expect(first.html.match(/<time [^>]*>1 Jan 2026</g)).toHaveLength(1)
})
