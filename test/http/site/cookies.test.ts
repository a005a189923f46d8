import { expect, test } from "bun:test"
import { createCookies } from "../../../src/http/site/cookies.ts"

test("no script reads a cookie and no other site sends it, and over HTTPS it is of this host and of HTTPS alone", () => {
  expect(createCookies(false).write("session", "x")).toBe(
    "mailkind_session=x; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax",
  )
  expect(createCookies(true).write("session", "x")).toBe(
    "__Host-mailkind_session=x; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax; Secure",
  )
})
