import { expect, test } from "bun:test"
import { clientNetwork } from "../../../src/customers/free-checks/bans.ts"
import { createClientNetworkResolver } from "../../../src/http/request/client-address.ts"

const NOBODY = new Headers()

test.each([
  ["192.0.2.1", "192.0.2.255", true],
  ["192.0.2.1", "192.0.3.1", false],
  ["::ffff:192.0.2.1", "192.0.2.200", true],
  ["::FFFF:c000:0201", "192.0.2.200", true],
  ["0:0:0:0:0:ffff:c000:201", "192.0.2.200", true],
  ["::ffff:c000:0301", "192.0.2.200", false],
  ["2001:db8:0:1::1", "2001:db8:0:1:ffff::", true],
  ["2001:db8:0:1::1", "2001:db8:0:2::1", false],
  ["::1", "192.0.2.1", false],
])("%s and %s are of one network: %p", (one, other, isSame) => {
  const clientOf = createClientNetworkResolver([])
  expect(clientNetwork(clientOf(one, NOBODY)) === clientNetwork(clientOf(other, NOBODY))).toBe(isSame)
})

test("behind a trusted proxy it is the client's network, and elsewhere that of who connects", () => {
  const forwarded = new Headers({ "X-Forwarded-For": "198.51.100.7, ::ffff:c000:0201" })
  expect(clientNetwork(createClientNetworkResolver(["10.0.0.0/8"])("10.0.0.1", forwarded))).toBe("192.0.2")
  expect(clientNetwork(createClientNetworkResolver(["10.0.0.0/8"])("::ffff:0a00:0001", forwarded))).toBe("192.0.2")
  expect(clientNetwork(createClientNetworkResolver([])("203.0.113.9", forwarded))).toBe("203.0.113")
})
