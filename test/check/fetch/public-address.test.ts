import { expect, test } from "bun:test"
import fc from "fast-check"
import ipaddr from "ipaddr.js"
import { parsePublicAddress } from "../../../src/check/fetch/public-address.ts"

test("a public address is returned in its canonical form", () => {
  expect(parsePublicAddress("93.184.216.34")).toBe("93.184.216.34")
  expect(parsePublicAddress("2606:2800:0220:0001:0000:0000:0000:1946")).toBe("2606:2800:220:1::1946")
  expect(parsePublicAddress("2A00:1450::8A")).toBe("2a00:1450::8a")
})

test("the first and last address of each special network are refused, and their neighbours outside are public", () => {
  for (const [first, last, before, after] of [
    ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
    ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
    ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
    ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
    ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
    ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
    ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
    ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
    ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
    ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
    ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
    ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
    ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ] as const) {
    expect([first, parsePublicAddress(first), parsePublicAddress(last)]).toEqual([first, null, null])
    expect([first, parsePublicAddress(before), parsePublicAddress(after)]).toEqual([first, before, after])
  }
  expect(parsePublicAddress("1.0.0.0")).toBe("1.0.0.0")
  expect(parsePublicAddress("0.255.255.255")).toBeNull()
  expect(parsePublicAddress("223.255.255.255")).toBe("223.255.255.255")
  expect(parsePublicAddress("224.0.0.0")).toBeNull()
})

test("whether an IPv4 address is public is what the registry says of all its octets", () => {
  const differing: string[] = []
  for (let block = 0; block < 65_536; block++) {
    const text = `${block >> 8}.${block & 0xff}.${(block * 37) & 0xff}.7`
    const isPublic = ipaddr.IPv4.parse(text).range() === "unicast"
    if (parsePublicAddress(text) !== (isPublic ? text : null)) differing.push(text)
  }
  expect(differing).toEqual([])
})

test("of IPv6 only global unicast is public", () => {
  for (const [refused, passed] of [
    ["1fff:ffff::1", "2003::1"],
    ["4000::", "3ffd:ffff::1"],
    ["2001:1ff:ffff::1", "2001:200::1"],
    ["2001:db8:ffff::1", "2001:db9::1"],
    ["2002:ffff::1", "2003:0::1"],
    ["3fff:fff::1", "3fff:1000::1"],
    ["3ffe::1", "3ffd::1"],
    ["2606:2800:220:1:200:5efe:a00:1", "2606:2800:220:1:200:5eff:a00:1"],
    ["2620:4f:8000::1", "2620:4f:8001::1"],
  ] as const)
    expect([refused, parsePublicAddress(refused), parsePublicAddress(passed) !== null]).toEqual([refused, null, true])
})

test("a NAT64 address is as public as the IPv4 address in it", () => {
  expect(parsePublicAddress("64:ff9b::93.184.216.34")).toBe("64:ff9b::5db8:d822")
  for (const within of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0", "255.255.255.255"])
    expect(parsePublicAddress(`64:ff9b::${within}`)).toBeNull()
  expect(parsePublicAddress("64:ff9b:0:0:0:1:5db8:d822")).toBeNull()
})

test("a text that is no address is refused", () => {
  for (const text of [
    "",
    "1",
    "127.1",
    "0x1.1.1.1",
    "01.1.1.1",
    "1.1.1.1.",
    "1.1.1.256",
    " 1.1.1.1",
    "1.1.1.1/8",
    "::g",
    "[2606::1]",
    "2606::1%0",
    "acme.com",
  ])
    expect([text, parsePublicAddress(text)]).toEqual([text, null])
})

test("an address that embeds another one is refused", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom("::ffff:", "::", "::ffff:0:", "64:ff9b:1::"), (address, prefix) => {
      expect(parsePublicAddress(prefix + address)).toBeNull()
    }),
  )
})
