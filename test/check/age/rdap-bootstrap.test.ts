import { expect, test } from "bun:test"
import fc from "fast-check"
import { BOOTSTRAP_CHARS_MAX, bundledBootstrap, parseBootstrap } from "../../../src/check/age/rdap-bootstrap.ts"

type Services = readonly (readonly [readonly string[], readonly string[]])[]

const textOf = (services: unknown, more: object = {}): string =>
  JSON.stringify({ version: "1.0", publication: "2026-01-01T00:00:00Z", services, ...more })

function bootstrapOf(services: Services, isOwn = false) {
  const read = parseBootstrap(textOf(services), isOwn)
  if (read.kind === "refused") throw new Error(read.message)
  return read.bootstrap
}

const saysOf = (text: string): string | null => {
  const read = parseBootstrap(text, false)
  return read.kind === "refused" ? read.message : null
}

/** The server of `name` in a bootstrap with these URLs for it. */
const servedBy = (urls: readonly string[], isOwn = false): string | null =>
  bootstrapOf([[["com"], urls]], isOwn).serverOf("acme.com")

test("the longest name that is the domain or a parent of it counts, label by label", () => {
  const { serverOf } = bootstrapOf([
    [["com", "net"], ["https://com.test.net/"]],
    [["uk"], ["https://uk.test.net/"]],
    [["co.uk", "goodexample.com"], ["https://longer.test.net/"]],
  ])
  expect(serverOf("acme.com")).toBe("https://com.test.net/")
  expect(serverOf("com")).toBe("https://com.test.net/")
  expect(serverOf("a.b.acme.net")).toBe("https://com.test.net/")
  expect(serverOf("acme.uk")).toBe("https://uk.test.net/")
  expect(serverOf("acme.co.uk")).toBe("https://longer.test.net/")
  expect(serverOf("goodexample.com")).toBe("https://longer.test.net/")
  expect(serverOf("sub.goodexample.com")).toBe("https://longer.test.net/")
  expect(serverOf("notgoodexample.com")).toBe("https://com.test.net/")
  expect(serverOf("acme.xco.uk")).toBe("https://uk.test.net/")
  expect(serverOf("acme.dcom")).toBeNull()
  expect(serverOf("acme.de")).toBeNull()
  expect(serverOf("constructor")).toBeNull()
})

test("an entry for the root is the default", () => {
  for (const root of ["", "."]) {
    const { serverOf } = bootstrapOf([
      [[root], ["https://all.test.net/"]],
      [["com"], ["https://com.test.net/"]],
    ])
    expect(serverOf("acme.de")).toBe("https://all.test.net/")
    expect(serverOf("acme.com")).toBe("https://com.test.net/")
  }
})

test("top-level domains in other scripts are normalized to A-labels", () => {
  const { serverOf, names } = bootstrapOf([[["xn--p1ai", "XN--FIQS8S", "укр"], ["https://idn.test.net/"]]])
  expect([...names]).toEqual(["xn--p1ai", "xn--fiqs8s", "xn--j1amh"])
  for (const domain of ["xn--80aswg.xn--p1ai", "acme.xn--fiqs8s", "acme.xn--j1amh"])
    expect(serverOf(domain)).toBe("https://idn.test.net/")
})

test("a base URL is returned with a trailing slash", () => {
  expect(servedBy(["https://rdap.test.net/v1"])).toBe("https://rdap.test.net/v1/")
  expect(servedBy(["https://rdap.test.net"])).toBe("https://rdap.test.net/")
})

test("the first allowed URL counts, which is https", () => {
  expect(servedBy(["http://a.test.net/", "https://b.test.net/", "https://c.test.net/"])).toBe("https://b.test.net/")
  for (const url of [
    "http://rdap.test.net/",
    "ftp://rdap.test.net/",
    "https://user@rdap.test.net/",
    "https://rdap.test.net/?x=",
    "https://rdap.test.net/#x",
    "https://rdap.test.net/?",
    "https://192.0.2.1/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://localhost/",
    "https://rdap.localhost/",
    "https://intranet/",
    "http://127.0.0.1/",
    "rdap.test.net",
    "",
    `https://rdap.test.net/${"a".repeat(1100)}/`,
  ])
    expect([url, servedBy([url])]).toEqual([url, null])
  expect(servedBy([])).toBeNull()
})

test("a bootstrap of the operator's URL may name loopback, by http too, and any host by https", () => {
  for (const url of ["http://127.0.0.1:8080/", "http://localhost:8080/", "http://[::1]:8080/", "https://localhost/"])
    expect(servedBy([url], true)).toBe(url)
  expect(servedBy(["https://rdap.corp/", "https://10.0.0.1/"], true)).toBe("https://rdap.corp/")
  for (const url of ["http://rdap.test.net/", "http://10.0.0.1/", "http://localhost.evil.net/", "http://a@127.0.0.1/"])
    expect([url, servedBy([url], true)]).toEqual([url, null])
})

test("a bootstrap that deviates from RFC 9224 is invalid as a whole", () => {
  const good = [[["com"], ["https://rdap.test.net/"]]]
  expect(saysOf(textOf(good))).toBeNull()
  expect(saysOf(textOf(good, { description: "…", extra: 1 }))).toBeNull()
  for (const [text, message] of [
    ["", "It is not JSON."],
    ["<html></html>", "It is not JSON."],
    [textOf(good).slice(0, -5), "It is not JSON."],
    ["null", "It has no list of services."],
    ["[]", "It has no list of services."],
    [textOf({}), "It has no list of services."],
    [textOf(good, { version: "2.0" }), "Its version is not 1.0."],
    [textOf(good, { publication: "soon" }), "Its publication is not a date."],
    [textOf(good, { publication: 7 }), "Its publication is not a date."],
    [textOf([...good, null]), "A service is not a pair."],
    [textOf([...good, [["net"]]]), "A service is not a pair."],
    [textOf([...good, [["a@b"], ["net"], ["https://rdap.test.net/"]]]), "A service is not a pair."],
    [textOf([...good, ["net", "https://rdap.test.net/"]]), "A service is not a pair of lists of strings."],
    [textOf([...good, [[7], ["https://rdap.test.net/"]]]), "A service is not a pair of lists of strings."],
    [textOf([...good, [["net"], [null]]]), "A service is not a pair of lists of strings."],
    [textOf([[["a b"], ["https://rdap.test.net/"]]]), "A name is invalid."],
    [textOf([[["com."], ["https://rdap.test.net/"]]]), "A name is invalid."],
    [textOf([[["-a"], ["https://rdap.test.net/"]]]), "A name is invalid."],
    [textOf([[["a..b"], ["https://rdap.test.net/"]]]), "A name is invalid."],
    [textOf([[["\u00ad"], ["https://rdap.test.net/"]]]), "A name is invalid."],
  ] as const)
    expect([text, saysOf(text)]).toEqual([text, message])
})

test("a bootstrap may omit its version and publication", () => {
  const read = parseBootstrap('{"services":[]}', true)
  expect(read).toMatchObject({ kind: "read", bootstrap: { publishedAtMs: null } })
})

test("a bootstrap is bounded by its length, its services and its names", () => {
  const padded = (length: number) => textOf([]).padEnd(length)
  expect(saysOf(padded(BOOTSTRAP_CHARS_MAX))).toBeNull()
  expect(saysOf(padded(BOOTSTRAP_CHARS_MAX + 1))).toContain("more than 262144 characters")
  const names = (count: number) => textOf([[Array.from({ length: count }, (_, n) => `n${n}`), ["https://a.test.net/"]]])
  expect(saysOf(names(20_000))).toBeNull()
  const services = (count: number) => textOf(Array.from({ length: count }, () => [["a"], ["https://a.test.net/"]]))
  expect([saysOf(services(2000)), saysOf(services(2001))]).toEqual([null, "It has more than 2000 services."])
  expect(saysOf(names(20_001))).toContain("more than 20000 names")
})

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.json(), text => void parseBootstrap(text, false)))
  fc.assert(fc.property(fc.jsonValue(), services => void parseBootstrap(textOf(services), true)))
})

test("the bundled bootstrap has servers for more than a thousand top-level domains, all by https", () => {
  const { serverOf, names, publishedAtMs } = bundledBootstrap()
  expect(names.size).toBeGreaterThan(1100)
  expect(serverOf("acme.com")).toBe("https://rdap.verisign.com/com/v1/")
  expect(serverOf("acme.org")).toBe("https://rdap.publicinterestregistry.org/rdap/")
  expect(serverOf("acme.co.uk")).toBe("https://rdap.nominet.uk/uk/")
  expect(serverOf("acme.xn--kpry57d")).toStartWith("https://")
  expect(serverOf("acme.de")).toBeNull()
  // Two of its servers have only plain HTTP, and are not allowed.
  expect(serverOf("acme.kg")).toBeNull()
  for (const name of names) expect(serverOf(name)).toMatch(/^https:\/\/[^/?#]+\/(?:[^?#]*\/)?$/)
  expect(publishedAtMs).toBe(Date.UTC(2025, 10, 6, 23, 0, 1))
})
