import { expect, test } from "bun:test"
import { mailHostKey } from "../../../src/check/learned/mail-host-key.ts"

test("servers that differ only in number or position are one host", () => {
  const labels = "mx mx1 mx2 mx-03 mxb mx-b mail mail-in-3 in7 smtp2 mx-eu-1 mta_4 inbound".split(" ")
  const keys = labels.map(label => mailHostKey(`${label}.throw-away.com`))
  expect(keys).toEqual(labels.map(() => "throw-away.com"))
  expect(mailHostKey("mx1.mail.throw-away.com")).toBe("throw-away.com")
  expect(mailHostKey("throw-away.com")).toBe("throw-away.com")
})

test("a customer's host and a rented machine are separate hosts", () => {
  expect(mailHostKey("acme.mail.provider.net")).toBe("acme.mail.provider.net")
  expect(mailHostKey("mail.acme.provider.net")).toBe("acme.provider.net")
  expect(mailHostKey("mail-acme.provider.net")).toBe("mail-acme.provider.net")
  expect(mailHostKey("vps777.provider.net")).toBe("vps777.provider.net")
  expect(mailHostKey("server23.provider.net")).toBe("server23.provider.net")
  expect(mailHostKey("1.2.3.4.provider.net")).toBe("1.2.3.4.provider.net")
})

test("no label of the registrable domain is removed", () => {
  expect(mailHostKey("mx1.mail.com")).toBe("mail.com")
  expect(mailHostKey("mx.mail.co.uk")).toBe("mail.co.uk")
  expect(mailHostKey("mx.mail.github.io")).toBe("mail.github.io")
})

test("a name outside public DNS is not a host", () => {
  for (const host of ["192.0.2.1", "localhost", "mx", "co.uk", "mx.invalid", "mx.home.arpa", "mx.nosuchtld", "", "."])
    expect([host, mailHostKey(host)]).toEqual([host, null])
})
