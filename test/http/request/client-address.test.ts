import { expect, test } from "bun:test"
import { createClientNetworkResolver } from "../../../src/http/request/client-address.ts"

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

test("what is no address ends the chain at the last address known", () => {
  const clientOf = createClientNetworkResolver(["10.0.0.0/8"])
  expect(clientOf("10.0.0.1", forwarded("192.0.2.1, unknown"))).toBe("10.0.0.1")
  expect(clientOf("10.0.0.1", new Headers())).toBe("10.0.0.1")
  expect(clientOf("10.0.0.1", forwarded(",,,"))).toBe("10.0.0.1")
})

test("a chain of thousands of addresses costs no more than its last few", () => {
  expect(
    createClientNetworkResolver(["10.0.0.0/8"])("10.0.0.1", forwarded(`${"10.0.0.1,".repeat(5000)}10.0.0.2`)),
  ).toBe("10.0.0.1")
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
