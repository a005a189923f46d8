import { expect, test } from "bun:test"
import { endsInNumber, isAddressLiteral, parsesAsIpv4, parsesAsIpv6 } from "../../../src/check/address/parse-host.ts"

test("an IPv4 address is recognised in every spelling that browsers and resolvers accept", () => {
  for (const text of [
    ...["192.0.2.1", "0.0.0.0", "255.255.255.255", "127.1", "127.0.1", "127.65535", "127.0.65535", "2130706433"],
    ...["4294967295", "0x7f.1", "0x7f000001", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "017700000001", "0x.0x.0.0", "0"],
  ]) {
    expect([text, endsInNumber(text), parsesAsIpv4(text)]).toEqual([text, true, true])
  }
})

test("numbers out of range and other names are not IPv4 addresses", () => {
  for (const text of [
    ...["256.0.0.1", "1.2.3.256", "1.2.65536", "1.16777216", "4294967296", "1.2.3.4.5", "08.1.1.1", "1.2.3.08"],
    ...["", "1..2.3", "a.1", "1.2.3.a", "0xg", "-1", "1.2.3.4x", "99999999999999999999999999"],
  ]) {
    expect([text, parsesAsIpv4(text)]).toEqual([text, false])
  }
  for (const text of ["a.b1", "a.1b", "1.com", "a.0xg", "a.x1"])
    expect([text, endsInNumber(text)]).toEqual([text, false])
})

test("an IPv6 address is recognised bare and in brackets, but not with a zone", () => {
  for (const text of ["::", "::1", "[::1]", "2001:db8::1", "[2001:DB8::1]", "::ffff:192.0.2.1"]) {
    expect([text, parsesAsIpv6(text)]).toEqual([text, true])
  }
  for (const text of ["", "[]", "[[::1]]", "1::2::3", "fe80::1%eth0", "[fe80::1%25eth0]", "[v1.a]", ":", "192.0.2.1"]) {
    expect([text, parsesAsIpv6(text)]).toEqual([text, false])
  }
})

test("an address literal is a dotted quad, or an IPv6 address after its tag", () => {
  for (const text of ["[192.0.2.1]", "[IPv6:2001:db8::1]", "[ipv6:::1]", "[IPV6:::ffff:192.0.2.1]"]) {
    expect([text, isAddressLiteral(text)]).toEqual([text, true])
  }
  for (const text of [
    ...["[]", "[192.0.2.256]", "[192.0.2]", "[127.1]", "[::1]", "[IPv6:]", "[IPv6:192.0.2.1]", "[IPv6:1::2::3]"],
    ...[
      "[192.0.2.1",
      "192.0.2.1]",
      "[192.0.2.1]x",
      "[ 192.0.2.1]",
      "[IPv6:fe80::1%1]",
      "[x:192.0.2.1]",
      "[[192.0.2.1]]",
    ],
  ]) {
    expect([text, isAddressLiteral(text)]).toEqual([text, false])
  }
})
