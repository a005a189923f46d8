import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  createNetworkMatcher,
  deserializeNetworks,
  parseNetwork,
  serializeNetworks,
} from "../../../src/customers/keys/networks.ts"

describe("a network", () => {
  test.each([
    ["203.0.113.0/24", "203.0.113.0/24"],
    ["203.0.113.77/24", "203.0.113.0/24"],
    ["203.0.113.77", "203.0.113.77/32"],
    ["255.255.255.255/1", "128.0.0.0/1"],
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8::/32", "2001:db8::/32"],
    ["2001:db8:1:2:3:4:5:6/48", "2001:db8:1::/48"],
    ["2001:db8:ffff::/33", "2001:db8:8000::/33"],
    ["2001:db8::1", "2001:db8::1/128"],
    ["::/0", "::/0"],
    ["::ffff:203.0.113.7", "203.0.113.7/32"],
    ["::ffff:203.0.113.7/120", "203.0.113.0/24"],
  ])("%p is stored as %p", (text, written) => {
    expect(parseNetwork(text)).toBe(written)
    expect(parseNetwork(written)).toBe(written)
  })

  test.each([
    "",
    " ",
    "acme.com",
    "203.0.113.0/33",
    "203.0.113.0/-1",
    "203.0.113.0/",
    "203.0.113.0/024",
    "203.0.113.0/24/8",
    "203.0.113/24",
    "203.0.113.0 /24",
    "203.0.113.256",
    "0x7f.1",
    "2001:db8::/129",
    "2001:db8::g/64",
    "[2001:db8::]/32",
    "fe80::1%eth0",
    "1".repeat(1000),
  ])("is not %p", text => expect(parseNetwork(text)).toBeNull())

  test("holds the addresses that share its prefix, and no others", () => {
    const bits = fc.array(fc.boolean(), { minLength: 32, maxLength: 32 })
    const written = (parts: readonly boolean[]): string =>
      [0, 8, 16, 24].map(at => parts.slice(at, at + 8).reduce((sum, bit) => sum * 2 + Number(bit), 0)).join(".")
    fc.assert(
      fc.property(bits, bits, fc.nat(32), (network, client, prefix) => {
        const parsed = parseNetwork(`${written(network)}/${prefix}`) ?? ""
        const isInside = network.slice(0, prefix).every((bit, at) => bit === client[at])
        expect(createNetworkMatcher([parsed])(written(client))).toBe(isInside)
      }),
    )
  })

  test("of IPv6 holds its addresses in any spelling, and a list holds those of each", () => {
    const allows = createNetworkMatcher(["2001:db8:1::/48", "203.0.113.0/24"])
    for (const address of ["2001:db8:1::1", "2001:DB8:1:ffff:0:0:0:1", "203.0.113.255"])
      expect(allows(address)).toBe(true)
    for (const address of ["2001:db8:2::1", "203.0.114.0", "", "unreadable behind 203.0.113.1", "203.0.113"])
      expect(allows(address)).toBe(false)
  })

  test.each(["::/0", "::/8", "::/80", "::fffe:0:0/95"])("of IPv6 holds no IPv4 address, also %p", network => {
    const allows = createNetworkMatcher([network])
    expect(allows("203.0.113.7")).toBe(false)
    expect(createNetworkMatcher([network, "203.0.113.0/24"])("203.0.113.7")).toBe(true)
    expect(allows("::fffe:1:2")).toBe(true)
  })

  test("of IPv4 holds no IPv6 address", () => {
    const allows = createNetworkMatcher(["0.0.0.0/0"])
    expect(allows("2001:db8::1")).toBe(false)
    expect(allows("::203.0.113.7")).toBe(false)
  })

  test("is stored and read back", () => {
    for (const networks of [[], ["::/0"], ["203.0.113.0/24", "2001:db8::/32"]])
      expect(deserializeNetworks(serializeNetworks(networks))).toEqual(networks)
  })
})
