import { expect, test } from "bun:test"
import {
  createClientAddressResolver,
  createClientNetworkResolver,
  createIpMatcher,
} from "../../../src/http/request/client-address.ts"

const forwarded = (value: string) => new Headers({ "X-Forwarded-For": value })

test("nobody's X-Forwarded-For is believed unless the operator named them", () => {
  expect(createClientNetworkResolver([])("203.0.113.7", forwarded("192.0.2.1"))).toBe("203.0.113.7")
  expect(createClientNetworkResolver(["10.0.0.0/8"])("203.0.113.7", forwarded("192.0.2.1"))).toBe("203.0.113.7")
})

test("behind trusted proxies the client is the rightmost address that is not one of them", () => {
  const clientOf = createClientNetworkResolver(["10.0.0.0/8", "::1"])
  expect(clientOf("10.0.0.1", forwarded("6.6.6.6, 192.0.2.1, 10.0.0.2"))).toBe("192.0.2.1")
  expect(clientOf("::1", forwarded("192.0.2.1"))).toBe("192.0.2.1")
  expect(clientOf("::ffff:10.0.0.1", forwarded("192.0.2.1"))).toBe("192.0.2.1")
})

const TRUSTED = ["10.0.0.0/8", "2001:db8:ffff::/48"]

test.each([
  ["192.0.2.1:567", "192.0.2.1"],
  ["192.0.2.1:", "192.0.2.1"],
  ["[192.0.2.1]:567", "192.0.2.1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["2001:db8::1", "2001:db8::1"],
  ["[::ffff:192.0.2.1]:443", "192.0.2.1"],
  ["6.6.6.6, 192.0.2.1:567 , 10.0.0.2:80", "192.0.2.1"],
  ["6.6.6.6, [2001:db8::1]:443,[2001:db8:ffff::2]:443,\t10.0.0.2", "2001:db8::1"],
])("a port and brackets are no part of an address: %s is %s", (header, client) => {
  expect(createClientAddressResolver(TRUSTED)("10.0.0.1", forwarded(header))).toBe(client)
})

const UNREADABLE = [
  ...["", ",", ",,,", " ", "unknown", "_hidden", "192.0.2.1, unknown", "192.0.2.1,", "1.2.3", "1.2.3.4.5", "300.0.2.1"],
  ...["192.0.2.1:port", "192.0.2.1:123456", "[2001:db8::1", "2001:db8::1]", "[]:80", "[192.0.2.1", "2001:db8::1::2"],
  ...["10.0.0.1x", "http://10.0.0.1/", "10.0.0.1/8", "[fe80::1%]"],
]

test.each(UNREADABLE)(
  "a sender whose address cannot be read is nobody: %p is on no list and limits nobody else",
  header => {
    const everywhere = createIpMatcher(["0.0.0.0/0", "::/0"])
    const [addressOf, clientOf] = [createClientAddressResolver(TRUSTED), createClientNetworkResolver(TRUSTED)]
    const address = addressOf("10.0.0.1", forwarded(header))
    expect([everywhere(address), everywhere("10.0.0.1")]).toEqual([false, true])
    const known = ["10.0.0.1", "192.0.2.1", "2001:db8::1"].map(peer => clientOf(peer, new Headers()))
    expect(known).not.toContain(clientOf("10.0.0.1", forwarded(header)))
    // The text has no influence, so that nobody gets another allowance with another text.
    expect(clientOf("10.0.0.1", forwarded(header))).toBe(clientOf("10.0.0.1", forwarded("another text")))
  },
)

test("the last proxy that is known tells nobody's address: another one's unreadable senders are others", () => {
  const clientOf = createClientNetworkResolver(TRUSTED)
  const [near, far] = [clientOf("10.0.0.1", forwarded("unknown")), clientOf("10.0.0.1", forwarded("unknown, 10.0.0.2"))]
  expect(near).not.toBe(far)
  expect(far).toBe(clientOf("10.0.0.2", forwarded("unknown")))
})

test("a request without the header is the proxy's own, and a header of an untrusted sender is not read", () => {
  expect(createClientNetworkResolver(TRUSTED)("10.0.0.1", new Headers())).toBe("10.0.0.1")
  for (const header of UNREADABLE)
    expect(createClientNetworkResolver(TRUSTED)("203.0.113.7", forwarded(header))).toBe("203.0.113.7")
})

test("a chain of thousands of addresses costs no more than its last few", () => {
  expect(
    createClientNetworkResolver(["10.0.0.0/8"])("10.0.0.1", forwarded(`${"10.0.0.1,".repeat(5000)}10.0.0.2`)),
  ).toBe("10.0.0.1")
})

test("an entry of thousands of characters costs no more than a short one, and is unreadable", () => {
  const clientOf = createClientNetworkResolver(TRUSTED)
  const nobody = clientOf("10.0.0.1", forwarded("unknown"))
  for (const part of [" ", "[", "]", ":", "1", "%", "\t", "[:", ":1"])
    for (const end of ["", "x", "[", "]:1"]) {
      const entry = `${part.repeat(100_000)}${end}`
      expect([entry.length, clientOf("10.0.0.1", forwarded(entry))]).toEqual([entry.length, nobody])
    }
})

test("an IPv6 /64 is one client, however its address is written", () => {
  const clientOf = createClientNetworkResolver([])
  const nobody = new Headers()
  const network = clientOf("2001:db8:0:1::1", nobody)
  expect(clientOf("2001:0DB8:0000:0001:ffff:ffff:ffff:ffff", nobody)).toBe(network)
  expect(clientOf("2001:db8:0:1:2::", nobody)).toBe(network)
  expect(clientOf("2001:db8:0:2::1", nobody)).not.toBe(network)
  expect(clientOf("fe80::1%eth0", nobody)).toBe(clientOf("fe80::2", nobody))
  expect(clientOf("::1", nobody)).toBe("0:0:0:0")
})

test("an IPv4 address written as IPv6 is that IPv4 address", () => {
  expect(createClientNetworkResolver([])("::ffff:192.0.2.1", new Headers())).toBe("192.0.2.1")
})
