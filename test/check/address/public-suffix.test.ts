import { expect, test } from "bun:test"
import {
  classifySuffix,
  isSameOrSubdomain,
  type SuffixClassification,
} from "../../../src/check/address/public-suffix.ts"

const CASES: readonly (readonly [name: string, fault: SuffixClassification["fault"], registrable: string])[] = [
  ["acme.com", null, "acme.com"],
  ["mail.acme.com", null, "acme.com"],
  ["a.b.acme.co.uk", null, "acme.co.uk"],
  ["xn--fa-hia.de", null, "xn--fa-hia.de"],
  ["a.xn--55qx5d.cn", null, "a.xn--55qx5d.cn"],
  ["a.xn--p1ai", null, "a.xn--p1ai"],
  ["example.com", null, "example.com"],
  ["nasa.gov", null, "nasa.gov"],
  ["www.gov.uk", null, "www.gov.uk"],
  ["a.in-addr.arpa", null, "a.in-addr.arpa"],
  // A suffix of the private section is a name like another; below it, each tenant is one registrant.
  ["github.io", null, "github.io"],
  ["jane.github.io", null, "jane.github.io"],
  ["a.jane.github.io", null, "jane.github.io"],
  ["uk.com", null, "uk.com"],
  ["acme.uk.com", null, "acme.uk.com"],
  ["blogspot.com", null, "blogspot.com"],
  // Wildcards and their exceptions.
  ["www.ck", null, "www.ck"],
  ["a.www.ck", null, "www.ck"],
  ["foo.ck", "public_suffix", "foo.ck"],
  ["a.foo.ck", null, "a.foo.ck"],
  ["city.kawasaki.jp", null, "city.kawasaki.jp"],
  ["a.city.kawasaki.jp", null, "city.kawasaki.jp"],
  ["foo.kawasaki.jp", "public_suffix", "foo.kawasaki.jp"],
  ["a.foo.kawasaki.jp", null, "a.foo.kawasaki.jp"],
  ["a.mm", "public_suffix", "a.mm"],
  ["co.uk", "public_suffix", "co.uk"],
  ["gov.uk", "public_suffix", "gov.uk"],
  ["gouv.fr", "public_suffix", "gouv.fr"],
  ["xn--55qx5d.cn", "public_suffix", "xn--55qx5d.cn"],
  ["in-addr.arpa", "public_suffix", "in-addr.arpa"],
  ["com", "public_suffix", "com"],
  ["ck", "public_suffix", "ck"],
  ["xn--fiqs8s", "public_suffix", "xn--fiqs8s"],
  ["intranet", "public_suffix", "intranet"],
  ["acme.cmo", "unknown_tld", "acme.cmo"],
  ["a.b.acme.corp", "unknown_tld", "acme.corp"],
  ["acme.home", "unknown_tld", "acme.home"],
  ["acme.xn--zca", "unknown_tld", "acme.xn--zca"],
  ["acme.0x7f", "unknown_tld", "acme.0x7f"],
  ["localhost", "reserved_tld", "localhost"],
  ["test", "reserved_tld", "test"],
  ["onion", "reserved_tld", "onion"],
  ["a.test", "reserved_tld", "a.test"],
  ["a.example", "reserved_tld", "a.example"],
  ["a.invalid", "reserved_tld", "a.invalid"],
  ["b.a.localhost", "reserved_tld", "a.localhost"],
  ["printer.local", "reserved_tld", "printer.local"],
  ["abc.onion", "reserved_tld", "abc.onion"],
  ["db.internal", "reserved_tld", "db.internal"],
  ["a.alt", "reserved_tld", "a.alt"],
  ["home.arpa", "reserved_tld", "home.arpa"],
  ["nas.home.arpa", "reserved_tld", "nas.home.arpa"],
  ["local.com", null, "local.com"],
  ["myhome.arpa", null, "myhome.arpa"],
]

test("the fault and the registrable domain of a name follow the Public Suffix List and the special-use names", () => {
  expect(CASES.map(([name]) => [name, classifySuffix(name)])).toEqual(
    CASES.map(([name, fault, registrable]) => [name, { fault, registrable }]),
  )
})

test("a name is a subdomain of itself and its parents, at label boundaries only", () => {
  expect(isSameOrSubdomain("acme.com", "acme.com")).toBe(true)
  expect(isSameOrSubdomain("a.acme.com", "acme.com")).toBe(true)
  expect(isSameOrSubdomain("a.b.acme.com", "acme.com")).toBe(true)
  expect(isSameOrSubdomain("xacme.com", "acme.com")).toBe(false)
  expect(isSameOrSubdomain("acme.com", "a.acme.com")).toBe(false)
  expect(isSameOrSubdomain("acme.com.org", "acme.com")).toBe(false)
})
