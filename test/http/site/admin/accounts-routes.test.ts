import { describe, expect, test } from "bun:test"
import { capitalized } from "../../../../src/base/text.ts"
import { TIERS } from "../../../../src/contract/tiers.ts"
import { findAccountByEmail, removeAccount } from "../../../../src/customers/accounts/accounts.ts"
import { createKey } from "../../../../src/customers/keys/keys.ts"
import { publishTerms } from "../../../../src/customers/terms/terms.ts"
import { newAccount, random } from "../../../customers/temp-store.ts"
import { formIn } from "../../../support/html-browser.ts"
import { attributesIn, HOSTILE } from "../../../support/open-site.ts"
import { openAdmin } from "./open-admin.ts"

const harness = async (options: Parameters<typeof openAdmin>[0] = {}) => {
  const admin = await openAdmin(options)
  const { changes, store } = admin
  const mails = () =>
    store.all<{ notice: string; subject: string }>("SELECT notice, subject FROM outbox ORDER BY notice")
  const keyOf = async (accountId: string, origins: readonly string[] = [], name: string | null = null) => {
    const kind = origins.length > 0 ? "publishable" : "secret"
    const made = await createKey(changes, random, { accountId, kind, name, origins })
    if (made.kind !== "created") throw new Error(made.kind)
    return { id: made.key.id, text: made.text }
  }
  return { ...admin, mails, keyOf }
}

describe("the list of accounts", () => {
  test("shows fifty to a page, the newest first, and each of them once", async () => {
    const { changes, page, store } = await harness()
    for (let at = 0; at < 104; at++) await newAccount(changes, `a${String(at).padStart(3, "0")}@example.com`)
    await store.run(
      "UPDATE accounts SET created_at_ms = created_at_ms + 1 + CAST(substr(email, 2, 3) AS BIGINT) WHERE email LIKE 'a%'",
    )
    const seen: string[] = []
    let next: string | undefined = "/admin/accounts"
    for (let pages = 1; next !== undefined; pages++) {
      const { html } = await page(next)
      const emails = [...html.matchAll(/>([^<>]+@[^<>]+)<\/bdi><\/a><\/th>/g)].map(([, email = ""]) => email)
      expect(emails).toHaveLength(pages === 3 ? 5 : 50)
      seen.push(...emails)
      next = attributesIn(html, "href").find(target => target.includes("after="))
    }
    expect(seen).toHaveLength(105)
    expect(seen).toEqual([...[...new Set(seen)].slice(0, -1).sort().reverse(), "owner@localhost"])
  })

  test("has no second page when the first is just full", async () => {
    const { changes, page } = await harness()
    for (let at = 0; at < 49; at++) await newAccount(changes, `a${at}@example.com`)
    expect((await page("/admin/accounts")).html).not.toContain("after=")
  })

  test.each([
    ["jane", ["jane.doe@example.com", "jane@example.com"]],
    ["JANE@", ["jane@example.com"]],
    ["jane@EXAMPLE.com", ["jane@example.com"]],
    ["mia@bücher.example", ["mia@xn--bcher-kva.example"]],
    ["j%", []],
    ["j_ne", []],
    ["ane", []],
    ["zzz", []],
  ])("finds by the beginning of the email: %p", async (beginning, found) => {
    const { changes, page } = await harness()
    for (const email of ["jane@example.com", "jane.doe@example.com", "mia@bücher.example"])
      await newAccount(changes, email)
    const { html, text: words } = await page(`/admin/accounts?email=${encodeURIComponent(beginning)}`)
    expect([...html.matchAll(/>([^<>]+@[^<>]+)<\/bdi><\/a><\/th>/g)].map(([, email = ""]) => email).sort()).toEqual(
      found,
    )
    expect(words.includes("No account matches.")).toBe(found.length === 0)
  })

  test("keeps what was searched for from page to page, as text and nothing more", async () => {
    const { changes, page } = await harness()
    for (let at = 0; at < 60; at++) await newAccount(changes, `a${String(at).padStart(2, "0")}@example.com`)
    const next = attributesIn((await page("/admin/accounts?email=a")).html, "href").find(target =>
      target.includes("after="),
    )
    expect(next).toStartWith("/admin/accounts?email=a&after=acc_")
    expect((await page(next ?? "")).html.match(/a\d\d@example\.com<\/bdi>/g)).toHaveLength(10)
    const { html } = await page(
      `/admin/accounts?email=${encodeURIComponent(`"${HOSTILE}`)}&after=${encodeURIComponent(HOSTILE)}`,
    )
    expect(html).not.toContain("<script>alert")
    expect(html).not.toContain('value=""')
  })

  test("is filtered by tier and state together with the search, and tells when a key was last used", async () => {
    const { changes, page, store, done } = await harness()
    const id = await newAccount(changes, "jane@example.com", 2)
    await newAccount(changes, "jana@example.com", 2)
    await newAccount(changes, "mia@example.com", 1)
    await done(`/admin/accounts/${id}/suspend`, { reason: "" })
    const found = async (query: string) =>
      [...(await page(`/admin/accounts?${query}`)).html.matchAll(/>([^<>]+@[^<>]+)<\/bdi><\/a><\/th>/g)].map(
        ([, one]) => one,
      )
    expect(await found("tier=1")).toEqual(["mia@example.com"])
    expect(await found("email=jan&state=suspended")).toEqual(["jane@example.com"])
    expect(await found("email=jan&state=active&tier=2")).toEqual(["jana@example.com"])
    expect(await found("tier=nine&state=gone")).toHaveLength(4)
    expect((await page("/admin/accounts?tier=1")).text).toContain("Clear the filter")
    expect((await page("/admin/accounts")).text).toContain("owner@localhost active Unlimited 1 never 1 Jan 2026")
    await store.run("UPDATE keys SET last_used_at_ms = $1", [Date.UTC(2025, 11, 24)])
    expect((await page("/admin/accounts")).text).toContain("1 24 Dec 2025 1 Jan 2026")
  })

  test("begins anew when the account that it would go on after is gone", async () => {
    const { changes, page } = await harness()
    const gone = await newAccount(changes, "zoe@example.com")
    await removeAccount(changes, gone)
    expect((await page(`/admin/accounts?after=${gone}`)).text).toContain("owner@localhost")
  })
})

describe("a new account", () => {
  test("is made with its tier, and counts as having accepted the terms", async () => {
    const { changes, store, done } = await harness()
    await publishTerms(changes, { version: "7", url: "https://a.example/", isMaterial: true })
    const { text: words } = await done("/admin/accounts", { "new-email": " New.Person@Example.COM ", tier: "2" })
    expect(words).toContain("Account created.")
    expect(words).toContain("Tier Growth")
    expect(words).toContain("accepted, version 7")
    const made = await findAccountByEmail(store, "new.person@example.com")
    expect(made).toMatchObject({ tier: 2, acceptedTermsVersion: "7" })
  })

  test.each([
    [{ "new-email": "no email", tier: "0" }, "Enter a valid email address."],
    [{ "new-email": "", tier: "0" }, "Enter a valid email address."],
    [{}, "Enter a valid email address."],
    [{ "new-email": `${"a".repeat(65)}@example.com`, tier: "0" }, "Enter a valid email address."],
    [{ "new-email": "a\u0000b@example.com", tier: "0" }, "Enter a valid email address."],
    [{ "new-email": "a@example.com\r\nBcc: b@example.com", tier: "0" }, "Enter a valid email address."],
    [{ "new-email": "OWNER@localhost", tier: "0" }, "An account with this email exists already."],
    [{ "new-email": "new@example.com", tier: "5" }, "Choose one of the tiers."],
    [{ "new-email": "new@example.com", tier: "-1" }, "Choose one of the tiers."],
    [{ "new-email": "new@example.com", tier: "1.0" }, "Choose one of the tiers."],
    [{ "new-email": "new@example.com" }, "Choose one of the tiers."],
  ])("is refused in words, and what was typed is kept: %p", async (fields, description) => {
    const sent: Record<string, string> = { ...fields }
    const { store, form } = await harness()
    const { status, text: words, html } = await form("/admin/accounts", sent)
    expect(status).toBe(400)
    expect(words).toContain(description)
    expect(words).toContain("The account was not created.")
    if (sent["new-email"] === "new@example.com") expect(html).toContain('value="new@example.com"')
    expect(await store.all("SELECT id FROM accounts")).toHaveLength(1)
  })

  test("is made once when the form is sent twice", async () => {
    const { store, form } = await harness()
    const fields = { "new-email": "new@example.com", tier: "0" }
    const answers = await Promise.all([form("/admin/accounts", fields), form("/admin/accounts", fields)])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400])
    expect(await store.all("SELECT id FROM accounts")).toHaveLength(2)
  })
})

describe("one account", () => {
  test("is shown with its limits, its keys, what it did today and its browsers, and no key is", async () => {
    const { key, keyOf, page, accountId, ask, customers, signIn } = await harness({ tier: 0 })
    const other = await keyOf(accountId, ["https://shop.example"], HOSTILE.slice(0, 40))
    await ask("POST /v1/check", { body: { domain: "gmail.com" } })
    await customers.usage.flush()
    await signIn()
    const { text: words, html } = await page(`/admin/accounts/${accountId}`)
    expect(words).toContain("Free: 5/s, 5 at once, 1,000/day")
    expect(words).toContain("Units today 1 999 left")
    expect(words).toContain("Sessions 2")
    expect(words).toContain("nothing to accept")
    expect(words).toContain("https://shop.example")
    expect(html).toContain(`${key.slice(-4)}</code></th>`)
    for (const text of [key, other.text]) expect(html).not.toContain(text.slice(9, 30))
    expect(html).not.toContain("<script>alert")
  })

  test("tells how it stands to the terms, in each state", async () => {
    const { changes, page, time, signIn } = await harness()
    const id = await newAccount(changes, "jane@example.com")
    const path = `/admin/accounts/${id}`
    expect((await page(path)).text).toContain("nothing to accept")
    await publishTerms(changes, { version: "v2", url: "https://a.example/", isMaterial: true })
    await time.tick(1)
    expect((await page(path)).text).toContain("must accept version v2 before 31 Jan 2026, 00:00 UTC")
    await time.tick(30 * 86_400_000)
    expect((await page(path, await signIn())).text).toContain(
      "did not accept version v2: requests are refused since 31 Jan 2026, 00:00 UTC",
    )
  })

  test.each(TIERS.map((_, tier) => tier))("gets tier %p, whose limits hold at once", async tier => {
    const { changes, done, page } = await harness()
    const id = await newAccount(changes, "jane@example.com", 1)
    const { text: words } = await done(`/admin/accounts/${id}/tier`, { tier: String(tier) })
    expect(words).toContain("Tier changed")
    expect(words).toContain(`Tier ${capitalized(TIERS[tier]?.name ?? "")}`)
    expect((await page("/admin/accounts?email=jane")).text).toContain(capitalized(TIERS[tier]?.name ?? ""))
  })

  test.each(["5", "-1", "", "free", "1e0", "01"])("gets no tier %p", async tier => {
    const { changes, store, form } = await harness()
    const id = await newAccount(changes, "jane@example.com", 1)
    const { status, text: words } = await form(`/admin/accounts/${id}/tier`, { tier })
    expect({ status, isSaid: words.includes("Choose one of the tiers.") }).toEqual({ status: 400, isSaid: true })
    expect(await findAccountByEmail(store, "jane@example.com")).toMatchObject({ tier: 1 })
  })

  test("that was deleted meanwhile is not found, by its page and by its forms", async () => {
    const { changes, page, form, keyOf } = await harness()
    const id = await newAccount(changes, "jane@example.com")
    const key = await keyOf(id)
    await removeAccount(changes, id)
    expect((await page(`/admin/accounts/${id}`)).status).toBe(404)
    expect((await form(`/admin/accounts/${id}/tier`, { tier: "1" })).status).toBe(404)
    expect((await page(`/admin/keys/${key.id}/revoke`)).status).toBe(404)
    expect((await form(`/admin/keys/${key.id}/revoke`)).status).toBe(404)
  })
})

describe("a key", () => {
  test("is revoked after a confirmation, and its owner is written to once", async () => {
    const { changes, page, form, done, keyOf, mails, ask } = await harness()
    const id = await newAccount(changes, "jane@example.com", 4)
    const key = await keyOf(id)
    const path = `/admin/keys/${key.id}/revoke`
    expect((await page(`/admin/accounts/${id}`)).html).toContain(`href="${path}"`)
    const confirmation = await page(path)
    expect(confirmation.text).toContain("You cannot undo this.")
    expect((await ask("GET /v1/usage", { key: key.text })).status).toBe(200)
    const sent = formIn(confirmation.html, "Revoke the key")
    const { text: words } = await done(sent.path, sent.fields)
    expect(words).toContain("Key revoked. We send the account's owner an email.")
    expect(words).toContain("revoked by an administrator")
    expect((await ask("GET /v1/usage", { key: key.text })).body).toMatchObject({ code: "key_revoked" })
    const again = await form(path)
    expect(again.redirectPath).toEndWith("done=key-revoked-before")
    expect((await page(path)).text).toContain("This key is revoked.")
    expect((await mails()).filter(({ subject }) => subject === key.id).map(({ notice }) => notice)).toEqual([
      "key_created",
      "key_revoked_by_admin",
    ])
  })
})
