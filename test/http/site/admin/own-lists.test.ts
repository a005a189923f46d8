import { describe, expect, test } from "bun:test"
import { countEntries, OPERATOR } from "../../../../src/customers/own-lists/own-lists.ts"
import { anotherAccount } from "../../../contract/another-account.ts"
import { testApp } from "../../../support/app.ts"
import { createBrowser, signedInBrowser } from "../../../support/html-browser.ts"

const PATH = "/admin/lists"
const ENTRIES = "/admin/list-entries"
const IMPORT = "/admin/list-entries/import"

async function opened() {
  const harness = await testApp({ admins: ["owner@localhost"] })
  const browser = await signedInBrowser(harness)
  const paste = (entries: string, more: Record<string, string> = {}) =>
    browser.postParts(ENTRIES, { list: "block", list_action: "add", entries, ...more })
  const counts = () => countEntries(harness.store, OPERATOR)
  const acts = async () => (await browser.get("/admin/acts")).html
  return { ...harness, ...browser, paste, counts, acts }
}

describe("the operator's lists", () => {
  test("an entry holds for every account at once, also against an account's allow list", async () => {
    const { paste, ask, postParts, get } = await opened()
    await postParts("/dashboard/list-entries", { list: "allow", list_action: "add", entries: "stripe.com" })
    const recommended = async () =>
      (await ask("POST /v1/check", { body: { email: "jane@stripe.com" } })).body["recommendation"]
    expect(await recommended()).toBe("allow")
    const { status, redirectPath } = await paste("stripe.com\njane@acme.example", { note: "asked by support" })
    expect([status, redirectPath]).toEqual([303, `${PATH}?list=block&done=added&changed=2&left=0`])
    expect(await recommended()).toBe("block")
    const { html } = await get(redirectPath ?? "")
    expect(html).toContain("2 entries added.")
    expect(html).toContain("asked by support")
    expect(html).toContain("j…e@acme.example")
    expect(html).not.toContain("jane@acme.example")
  })

  test("each change is an act in the audit log, which names counts and no entry", async () => {
    const { paste, acts, post, counts } = await opened()
    await paste("stripe.com\njane@acme.example")
    await post(ENTRIES, {
      from: "selection",
      list: "block",
      list_action: "note",
      entries: "stripe.com",
      selected_note: "why",
    })
    await paste("stripe.com", { list_action: "remove" })
    await paste("stripe.com", { list_action: "remove" })
    expect(await counts()).toEqual({ block: 1, allow: 0 })
    const html = await acts()
    for (const line of ["2 on the block list", "1 on the block list", "List entries added", "List entries removed"])
      expect(html).toContain(line)
    expect(html).toContain("Notes of list entries changed")
    expect(html.match(/<th scope="row"[^>]*>List entries removed/g)).toHaveLength(1)
    expect(html).not.toMatch(/stripe\.com|acme\.example/)
  })

  test("files come and go, with notes", async () => {
    const { postParts, get, counts } = await opened()
    const file = new File(["entry,note\nacme.example,ours\n*.zip,a whole top level\n"], "x.csv")
    expect((await postParts(IMPORT, { list: "allow", file })).status).toBe(303)
    expect(await counts()).toEqual({ block: 0, allow: 2 })
    expect((await get(`${PATH}/allow.txt`)).html).toMatch(/^# The allow list of the operator, as of /)
    expect((await get(`${PATH}/allow.txt`)).html).toContain("\nacme.example\n")
    expect((await get("/admin/list-entries/export.csv?list=allow")).html).toContain("acme.example,ours,")
    expect((await get(`${PATH}/elsewhere.txt`)).status).toBe(404)
  })

  test("a line that is no entry is said beside the field, and what was typed is kept", async () => {
    const { paste, counts } = await opened()
    const { status, html } = await paste('acme.example\n<script>alert("1")</script>', { note: "<b>bold</b>" })
    expect(status).toBe(400)
    expect(html).toContain("Line 2:")
    expect(html).toContain("&lt;b>bold&lt;/b>")
    expect(html).not.toContain("<script>alert")
    expect(await counts()).toEqual({ block: 0, allow: 0 })
  })

  test("for others than administrators the pages do not exist", async () => {
    const harness = await opened()
    const { accountId } = await anotherAccount(harness.changes)
    const other = createBrowser(harness.app, { cookie: await harness.signIn(accountId) })
    for (const path of [PATH, `${PATH}/block.txt`, "/admin/list-entries/export.csv?list=block"])
      expect([path, (await other.get(path)).status]).toEqual([path, 404])
    const sent = await other.postParts(ENTRIES, { list: "block", list_action: "add", entries: "stripe.com" })
    expect(sent.status).toBe(404)
    expect(await harness.counts()).toEqual({ block: 0, allow: 0 })
  })
})
