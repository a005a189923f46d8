import { expect, test } from "bun:test"
import fc from "fast-check"
import { widerNetworks } from "../../../src/customers/quota/client-networks.ts"
import { createClientNetworkResolver } from "../../../src/http/request/client-address.ts"

const clientOf = createClientNetworkResolver([])
const namesOf = (address: string): readonly string[] =>
  widerNetworks(clientOf(address, new Headers())).map(({ name }) => name)

test("the networks around an address are its /24, or its /56 and /48, and none for what is no address", () => {
  expect(namesOf("192.0.2.7")).toEqual(["192.0.2.0/24"])
  expect(namesOf("::ffff:192.0.2.7")).toEqual(["192.0.2.0/24"])
  expect(namesOf("2001:db8:12:34ff::1")).toEqual(["2001:db8:12:34/56", "2001:db8:12:/48"])
  expect(namesOf("2001:db8:12::1")).toEqual(["2001:db8:12:0/56", "2001:db8:12:/48"])
  expect(namesOf("::1")).toEqual(["0:0:0:0/56", "0:0:0:/48"])
  for (const none of ["", "unreadable behind 10.0.0.1", "unreadable behind 2001:db8::1", "1.2.3", "2001:db8"])
    expect(widerNetworks(none)).toEqual([])
})

test("two IPv6 addresses share the networks of exactly those lengths up to which they agree", () => {
  const octets = fc.uint8Array({ minLength: 16, maxLength: 16 })
  const textOf = (address: Uint8Array): string =>
    Buffer.from(address)
      .toString("hex")
      .replace(/(.{4})(?=.)/g, "$1:")
  fc.assert(
    fc.property(octets, fc.nat(127), (address, flippedBit) => {
      // An IPv4 address written as IPv6 has other networks.
      fc.pre(address[0] !== 0)
      const other = address.map((octet, at) => (at === flippedBit >> 3 ? octet ^ (0x80 >> (flippedBit & 7)) : octet))
      const [own, others] = [namesOf(textOf(address)), namesOf(textOf(other))]
      expect([own[0] === others[0], own[1] === others[1]]).toEqual([flippedBit >= 56, flippedBit >= 48])
      expect(own[0]).not.toBe(own[1] ?? "")
    }),
  )
})
