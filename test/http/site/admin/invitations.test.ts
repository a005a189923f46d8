import { expect, test } from "bun:test"
import { DAY_MS } from "../../../../src/base/time.ts"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { newAccount } from "../../../customers/temp-store.ts"
import { type AppOptions, testApp } from "../../../support/app.ts"
import { createBrowser, keyIn, textOf } from "../../../support/html-browser.ts"

/** A closed server with an administrator who is signed in, and a function that invites an address. */
async function openClosed(options: AppOptions = {}) {
  const house = await testApp({ settings: { MAILKIND_SIGN_UP: "closed" }, admins: ["owner@localhost"], ...options })
  const admin = createBrowser(house.app, { cookie: await house.signIn(), followsRedirects: true })
  const invite = async (email: string, tier = "2") =>
    await admin.submit(await admin.get("/admin/accounts"), { "new-email": email, tier }, "Invite")
  const guest = () => createBrowser(house.app, { followsRedirects: true })
  const act = async () =>
    (await house.store.all<{ act: string }>("SELECT act FROM admin_acts ORDER BY at_ms, id")).map(({ act: one }) => one)
  return { ...house, admin, invite, guest, acts: act }
}

const linkIn = (text: string): string => /http:\/\/localhost(\/invitation\?token=\w{32})/.exec(text)?.[1] ?? "none"

test("an invitation is mailed, makes one account with its tier and a key while sign-up is closed, and works once", async () => {
  const { invite, guest, mails, store, acts } = await openClosed()
  expect((await invite("Jane@Example.org")).text).toContain("Invitation sent.")
  expect(mails.map(({ to }) => to)).toEqual(["jane@example.org"])
  const link = linkIn(mails[0]?.text ?? "")
  const page = await guest().get(link)
  expect(page.text).toContain(
    "An administrator of this server invites jane@example.org . You get an account in the tier",
  )
  const welcome = await guest().submit(page)
  expect(keyIn(welcome.html)).not.toBeNull()
  expect(await store.all("SELECT email, tier FROM accounts WHERE email LIKE 'jane%'")).toEqual([
    { email: "jane@example.org", tier: 2 },
  ])
  expect((await guest().submit(page)).text).toContain("This invitation has ended")
  expect((await guest().get(link)).text).toContain("This invitation has ended")
  expect(await acts()).toEqual(expect.arrayContaining(["account_invited", "invitation_accepted"]))
})

test("without a mail server, and for a mail that is refused, the administrator sees the link once", async () => {
  for (const options of [
    { smtpUrl: null },
    { takes: () => ({ kind: "refused", isPermanent: true, reply: 550 }) as const },
  ]) {
    const { invite, guest, logged, admin } = await openClosed(options)
    const shown = await invite("jane@example.org")
    const link = linkIn(textOf(shown.html))
    expect((await guest().get(link)).text).toContain("jane@example.org")
    expect((await admin.get("/admin/accounts")).html).not.toContain(link)
    expect(JSON.stringify(logged)).not.toMatch(/jane|token=/)
  }
})

test("an invitation ends when it is revoked, replaced or too old", async () => {
  const { invite, guest, admin, mails, time, acts } = await openClosed()
  const linkOf = async (at: number) => (await guest().get(linkIn(mails[at]?.text ?? ""))).text
  await invite("jane@example.org")
  await invite("jane@example.org")
  expect(await linkOf(0)).toContain("This invitation has ended")
  expect(await linkOf(1)).toContain("You get an account in the tier")
  const revoked = await admin.submit(await admin.get("/admin/accounts"), {}, "Revoke")
  expect(revoked.text).toContain("Invitation revoked.")
  expect(await linkOf(1)).toContain("This invitation has ended")
  await invite("jane@example.org")
  await time.tick(LIMITS.invitationDays * DAY_MS - 1)
  expect(await linkOf(2)).toContain("You get an account in the tier")
  await time.tick(1)
  expect(await linkOf(2)).toContain("This invitation has ended")
  expect(await acts()).toContain("invitation_revoked")
})

test("who holds an invitation gets into no account that exists, and nobody with an account is invited", async () => {
  const { invite, guest, mails, changes } = await openClosed()
  await invite("jane@example.org")
  const page = await guest().get(linkIn(mails[0]?.text ?? ""))
  await newAccount(changes, "jane@example.org")
  expect((await guest().submit(page)).text).toContain("This invitation has ended")
  expect((await invite("jane@example.org")).text).toContain("An account with this email exists already.")
  expect((await invite("jane")).text).toContain("Enter a valid email address.")
})

test("the store holds no address that is invited", async () => {
  const { invite, store } = await openClosed()
  await invite("jane@example.org")
  const rows = JSON.stringify([
    await store.all("SELECT * FROM invitations"),
    await store.all("SELECT * FROM admin_acts"),
  ])
  expect(rows).toContain("inv_")
  expect(rows).not.toMatch(/jane|example\.org/)
})
