import { expect, test } from "bun:test"
import { OWNER_EMAIL } from "../../../src/customers/keys/first-account.ts"
import { isMailable } from "../../../src/customers/notices/mailable.ts"

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
