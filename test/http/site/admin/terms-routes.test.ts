import { describe, expect, test } from "bun:test"
import { renderMailText } from "../../../../src/customers/notices/mail-content.tsx"
import { type Notice, storedNoticeContent } from "../../../../src/customers/notices/notices.ts"
import { acceptTerms, publishTerms } from "../../../../src/customers/terms/terms.ts"
import { newAccount } from "../../../customers/temp-store.ts"
import { errorAt, fieldIn, formIn } from "../../../support/html-browser.ts"
import { attributesIn, HOSTILE, unescapeHtml } from "../../../support/open-site.ts"
import { openAdmin } from "./open-admin.ts"

const TERMS = { version: "2026-12", url: "https://a.example/terms?a=b&c=d", material: "yes" }

const previewOf = (fields: Readonly<Record<string, string>>): string =>
  `/admin/terms/preview?${new URLSearchParams(fields).toString()}`

/** The app with the accounts of three people, whom mail reaches, beside the admin's own, whom it does not. */
async function harness() {
  const admin = await openAdmin()
  const { changes, store } = admin
  for (const name of ["a", "b", "c"]) await newAccount(changes, `${name}@example.com`)
  const published = () => store.all<{ version: string }>("SELECT version, url, is_material FROM terms")
  const mails = () =>
    store.all<{ notice: Notice["kind"]; particulars: string }>(
      "SELECT notice, particulars FROM outbox WHERE notice = 'terms_change'",
    )
  return { ...admin, published, mails }
}

describe("the preview of terms", () => {
  test("tells who is told what and when it ends, and publishes nothing", async () => {
    const { page, published, mails } = await harness()
    const { status, text } = await page(previewOf(TERMS))
    expect(status).toBe(200)
    for (const part of ["4 have to accept them", "3 accounts get one", "Accept by 31 Jan 2026, 00:00 UTC"])
      expect(text).toContain(part)
    expect(await published()).toEqual([])
    expect(await mails()).toEqual([])
  })

  test("shows the mail as it is sent when the terms are published", async () => {
    const { page, done, mails } = await harness()
    const preview = await page(previewOf(TERMS))
    const { path, fields } = formIn(preview.html, "Publish version 2026-12")
    expect((await done(path, fields)).text).toContain("The terms are published.")
    const sent = await mails()
    expect(sent).toHaveLength(3)
    for (const { notice, particulars } of sent) {
      const letter = storedNoticeContent(notice, particulars, { baseUrl: "http://localhost" })
      if (letter === null) throw new Error(particulars)
      expect(unescapeHtml(preview.html)).toContain(renderMailText(letter))
      expect(preview.text).toContain(`Subject: ${letter.subject}`)
    }
  })

  test("of terms that are not material shows no mail, and none is sent", async () => {
    const { page, done, mails, published } = await harness()
    const preview = await page(previewOf({ ...TERMS, material: "no" }))
    expect(preview.text).toContain("no account has to do anything")
    expect(preview.text).toContain("Emails none are sent")
    expect(preview.text).not.toContain("Subject:")
    const { path, fields } = formIn(preview.html, "Publish version 2026-12")
    await done(path, fields)
    expect(await published()).toEqual([{ version: "2026-12", url: TERMS.url, is_material: 0 } as never]) // a row as it is
    expect(await mails()).toEqual([])
  })

  test("says when some have yet to accept earlier terms", async () => {
    const { changes, page, time } = await harness()
    await publishTerms(changes, { version: "1", url: "https://a.example/", isMaterial: true })
    await time.tick(1)
    expect((await page(previewOf(TERMS))).text).toContain("4 accounts must still accept earlier terms")
    for (const { id } of await changes.store.all<{ id: string }>("SELECT id FROM accounts"))
      await acceptTerms(changes, id)
    expect((await page(previewOf(TERMS))).text).not.toContain("earlier terms")
  })

  test("leads back to the form with what was typed", async () => {
    const { page } = await harness()
    const { html } = await page(previewOf(TERMS))
    const back = attributesIn(html, "href").find(target => target.startsWith("/admin/terms?"))
    const form = await page(back ?? "")
    expect(form.html).toContain('value="2026-12"')
    expect(unescapeHtml(form.html)).toContain(`value="${TERMS.url}"`)
    expect(form.html).toMatch(/<option value="yes" selected/)
  })
})

const REFUSED = [
  [{ ...TERMS, version: "" }, "A version has 1 to 40 letters"],
  [{ ...TERMS, version: "x".repeat(41) }, "A version has 1 to 40 letters"],
  [{ ...TERMS, version: "a\r\nb" }, "A version has 1 to 40 letters"],
  [{ ...TERMS, version: HOSTILE }, "A version has 1 to 40 letters"],
  [{ ...TERMS, url: "" }, "Enter a link that begins with"],
  [{ ...TERMS, url: "javascript:alert(1)" }, "Enter a link that begins with"],
  [{ ...TERMS, url: "/terms" }, "Enter a link that begins with"],
  [{ ...TERMS, url: "https://user:secret@a.example/" }, "Enter a link that begins with"],
  [{ ...TERMS, url: `https://a.example/${"x".repeat(2048)}` }, "Enter a link that begins with"],
  [{ ...TERMS, url: "https://a.example/a b" }, "Enter a link that begins with"],
  [{ ...TERMS, material: "" }, "Choose if accounts must accept the terms."],
  [{ ...TERMS, material: "maybe" }, "Choose if accounts must accept the terms."],
  [{}, "Choose if accounts must accept the terms."],
  [{ ...TERMS, version: "taken" }, "This version exists already"],
] as const

describe("terms that cannot be published", () => {
  test.each(REFUSED)("are refused in words by the preview and by the form: %p", async (fields, description) => {
    const { changes, page, form, published, mails } = await harness()
    await publishTerms(changes, { version: "taken", url: "https://a.example/taken", isMaterial: false })
    const sent: Record<string, string> = { ...fields }
    for (const answer of [await page(previewOf(sent)), await form("/admin/terms", sent)]) {
      expect(answer.status).toBe(400)
      expect(answer.text).toContain(description)
      expect(answer.html).toContain('aria-invalid="true"')
      expect(answer.html).not.toContain("<script>alert")
      if (sent["url"] === TERMS.url) expect(unescapeHtml(answer.html)).toContain(`value="${TERMS.url}"`)
    }
    expect(await published()).toHaveLength(1)
    expect(await mails()).toEqual([])
  })
})

test("a form tells all its faults at once, each beside its field, and keeps what was typed", async () => {
  const { changes, page, form } = await harness()
  await publishTerms(changes, { version: "taken", url: "https://a.example/taken", isMaterial: false })
  for (const [version, fault] of [
    ["a b", "A version has 1 to 40 letters, digits, dots, dashes and underscores."],
    ["taken", "This version exists already with other terms. Choose another version."],
  ] as const) {
    const sent = { version, url: "nope", material: "" }
    for (const { html } of [await page(previewOf(sent)), await form("/admin/terms", sent)]) {
      expect(["version", "url", "material"].map(field => errorAt(html, field))).toEqual([
        fault,
        "Enter a link that begins with https:// or http://.",
        "Choose if accounts must accept the terms.",
      ])
      expect([fieldIn(html, "version"), fieldIn(html, "url")]).toEqual([version, "nope"])
    }
  }
})

test("an address that would be more than an address in a page is written with what stands for its signs", async () => {
  const { page, published, done } = await harness()
  const url = `https://a.example/"><script>alert("x")</script>`
  const preview = await page(previewOf({ ...TERMS, url }))
  const { path, fields } = formIn(preview.html, "Publish version 2026-12")
  for (const { html } of [preview, await done(path, fields)]) {
    expect(html).not.toContain("<script>alert")
    expect(html).toContain("%3Cscript%3E")
  }
  expect(await published()).toHaveLength(1)
})

describe("terms that were published", () => {
  test("are listed, the current ones first, with how many have yet to accept", async () => {
    const { changes, page, time } = await harness()
    expect((await page("/admin/terms")).text).toContain("No terms are published.")
    await publishTerms(changes, { version: "1", url: "https://a.example/1", isMaterial: true })
    await time.tick(1000)
    await publishTerms(changes, { version: "2", url: "https://a.example/2", isMaterial: false })
    const { text, html } = await page("/admin/terms")
    expect(text).toContain("4 accounts must still accept the terms.")
    const links = attributesIn(html, "href").filter(target => target.startsWith("https://"))
    expect(links).toEqual(["https://a.example/2", "https://a.example/1"])
    expect(text).toMatch(/2 \/2 .* 1 \/1 /)
    expect(text).toContain("31 Jan 2026, 00:00 UTC")
  })

  test("are published once, however often the form is sent", async () => {
    const { form, page, published, mails, time } = await harness()
    const answers = await Promise.all([form("/admin/terms", TERMS), form("/admin/terms", TERMS)])
    expect(answers.map(({ redirectPath }) => redirectPath?.split("done=")[1]).sort()).toEqual([
      "published",
      "published-before",
    ])
    await time.tick(86_400_000)
    const again = await form("/admin/terms", TERMS)
    expect((await page(again.redirectPath ?? "")).text).toContain("were published before. Nothing changed")
    expect(await published()).toHaveLength(1)
    expect(await mails()).toHaveLength(3)
  })

  test("have no preview any more: it says that they are there", async () => {
    const { form, page } = await harness()
    await form("/admin/terms", TERMS)
    const { redirectPath } = await page(previewOf(TERMS))
    expect(redirectPath).toBe("/admin/terms?done=published-before")
  })
})

describe("the withdrawal of terms", () => {
  test("is offered while the notice of the current terms runs, asks first, and is in the list afterwards", async () => {
    const { changes, page, done, mails } = await harness()
    await publishTerms(changes, { version: "1", url: "https://a.example/1", isMaterial: false })
    expect((await page("/admin/terms")).text).not.toContain("Withdraw")
    await publishTerms(changes, { version: "2", url: "https://a.example/2", isMaterial: true })
    const list = await page("/admin/terms")
    const link = attributesIn(list.html, "href").find(target => target.startsWith("/admin/terms/withdraw"))
    const asked = await page(unescapeHtml(link ?? ""))
    const { path, fields } = formIn(asked.html, "Withdraw version 2")
    const { text } = await done(path, fields)
    expect(text).toContain("The terms are withdrawn. Nobody has to accept them.")
    expect(text).not.toContain("must still accept")
    expect(await mails()).toEqual([])
    const again = { version: "2", url: "https://a.example/2", material: "yes" }
    expect((await page(previewOf(again))).text).toContain("This version was withdrawn.")
    expect((await done(path, fields)).text).toContain("were withdrawn before")
  })

  test("of other terms than these is refused", async () => {
    const { changes, page, form } = await harness()
    await publishTerms(changes, { version: "1", url: "https://a.example/1", isMaterial: true })
    await publishTerms(changes, { version: "2", url: "https://a.example/2", isMaterial: false })
    expect((await page("/admin/terms/withdraw")).text).toContain("No terms can be withdrawn now.")
    for (const version of ["1", "2", "3"]) expect((await form("/admin/terms/withdraw", { version })).status).toBe(404)
  })
})
