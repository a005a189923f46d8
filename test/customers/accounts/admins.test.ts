import { expect, test } from "bun:test"
import { createAdminCheck } from "../../../src/customers/accounts/account-email.ts"

test.each([
  ["Jane@Example.COM", "jane@example.com"],
  ["mia@bücher.example", "mia@xn--bcher-kva.example"],
  ["owner@localhost", "owner@localhost"],
])("an admin is found however the setting writes the email: %p", (written, email) => {
  expect(createAdminCheck(["other@example.com", written])?.(email)).toBe(true)
})

test("nobody else is an admin, and with no emails nobody is", () => {
  expect(createAdminCheck(["jane@example.com"])?.("jane.doe@example.com")).toBe(false)
  expect(createAdminCheck(["jane@example.com"])?.("")).toBe(false)
  expect(createAdminCheck([])?.("jane@example.com")).toBe(false)
})

test.each(['"jane doe"@example.com', "jane@[192.0.2.1]", "jane@exa_mple.com"])(
  "%p is no account's email, and is refused",
  written => {
    expect(createAdminCheck(["jane@example.com", written])).toBeNull()
  },
)
