import { expect, test } from "bun:test"
import { OWNER_EMAIL } from "../../../src/customers/keys/first-account.ts"
import { isMailable, mailableSql } from "../../../src/customers/notices/mailer.ts"
import { tempStore } from "../temp-store.ts"

test("mail reaches domains, and no single label nor what is reserved for no host", () => {
  for (const email of [
    "jane@example.com",
    "jane@acme.test",
    "jane@localhost.example.com",
    "jane@xn--bcher-kva.example",
  ])
    expect([email, isMailable(email)]).toEqual([email, true])
  for (const email of [OWNER_EMAIL, "jane@intranet", "jane@mail.localhost", "jane@acme.invalid"])
    expect([email, isMailable(email)]).toEqual([email, false])
})

test("SQL says the same of an email as the function does", async () => {
  const store = await tempStore()
  const emails = [OWNER_EMAIL, "a.b@intranet", "jane@invalid.example", "jane@acme.invalid", "jane@mail.localhost"]
  const others = [
    "jane@example.com",
    "jane@localhost.com",
    "%@example.com",
    "o'neill@a.co",
    "jane@xinvalid.com",
    "j@x.notinvalid",
  ]
  for (const email of [...emails, ...others]) {
    const row = await store.one<{ is: number }>(`SELECT ${mailableSql("$1")} AS "is"`, [email])
    expect([email, row?.is === 1]).toEqual([email, isMailable(email)])
  }
})
