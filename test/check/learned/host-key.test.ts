import { expect, test } from "bun:test"
import { hostKeyOf } from "../../../src/check/learned/host-key.ts"

test("servers that only their number or their place in a row tells apart are one host", () => {
  const labels = "mx mx1 mx2 mx-03 mxb mx-b mail mail-in-3 in7 smtp2 mx-eu-1 mta_4 inbound".split(" ")
  const keys = labels.map(label => hostKeyOf(`${label}.throw-away.com`))
  expect(keys).toEqual(labels.map(() => "throw-away.com"))
  expect(hostKeyOf("mx1.mail.throw-away.com")).toBe("throw-away.com")
  expect(hostKeyOf("throw-away.com")).toBe("throw-away.com")
})

test("a customer's host and a rented machine are hosts of their own", () => {
  expect(hostKeyOf("acme.mail.provider.net")).toBe("acme.mail.provider.net")
  expect(hostKeyOf("mail.acme.provider.net")).toBe("acme.provider.net")
  expect(hostKeyOf("mail-acme.provider.net")).toBe("mail-acme.provider.net")
  expect(hostKeyOf("vps777.provider.net")).toBe("vps777.provider.net")
  expect(hostKeyOf("server23.provider.net")).toBe("server23.provider.net")
  expect(hostKeyOf("1.2.3.4.provider.net")).toBe("1.2.3.4.provider.net")
})

test("nothing of the registrable domain is taken away, whatever it is called", () => {
  expect(hostKeyOf("mx1.mail.com")).toBe("mail.com")
  expect(hostKeyOf("mx.mail.co.uk")).toBe("mail.co.uk")
  expect(hostKeyOf("mx.mail.github.io")).toBe("mail.github.io")
})

test("what is no name of public DNS is no host", () => {
  for (const host of ["192.0.2.1", "localhost", "mx", "co.uk", "mx.invalid", "mx.home.arpa", "mx.nosuchtld", "", "."])
    expect([host, hostKeyOf(host)]).toEqual([host, null])
})
