import { expect, test } from "bun:test"
import fc from "fast-check"
import { isSignedInPage } from "../../../../src/contract/routes.ts"
import { DEFAULT_NEXT_PATH, safeNextPath, withNextPath } from "../../../../src/http/site/sign-in/next-path.ts"

test("a page of ours for people who are signed in is kept, with its query", () => {
  for (const page of ["/dashboard/account", "/dashboard/account?done=x", "/dashboard/account?q=%C3%A9&r="])
    expect(safeNextPath(page)).toBe(page)
  expect(safeNextPath("/docs/../dashboard/account#part")).toBe("/dashboard/account")
})

test("whatever else is asked for leads to the dashboard", () => {
  for (const text of [
    ...["", "/", "/docs", "/sign-in", "/sign-out", "/v1/check", "/dashboard/nothing", "/dashboard/account/sessions"],
    ...[
      "https://elsewhere.example",
      "https://elsewhere.example/dashboard/account?x",
      "//elsewhere.example/dashboard/account?x",
    ],
    ...[
      "/\\elsewhere.example/dashboard/account?x",
      "\\\\elsewhere.example/dashboard/account?x",
      "///elsewhere.example",
    ],
    ...[
      "/\t/elsewhere.example/dashboard/account?x",
      "/dashboard/..//elsewhere.example/dashboard/account?x",
      "javascript:alert(1)",
    ],
    ...[
      "data:text/html,x",
      "http:elsewhere.example",
      "http://here.invalid:81/dashboard/account?x",
      "https://here.invalid/dashboard/account?x",
    ],
    ...["/dashboard%2faccount", "/dashboard/account/?x", "http://[", `/dashboard/account?${"x".repeat(1000)}`],
  ])
    expect([text, safeNextPath(text)]).toEqual([text, DEFAULT_NEXT_PATH])
})

test("a line break in a page ends no header", () => {
  expect(safeNextPath("/dashboard/account?a\r\nSet-Cookie: x=y")).toBe("/dashboard/account?aSet-Cookie:%20x=y")
  expect(safeNextPath("/dashboard/account?a%0d%0aSet-Cookie: x=y")).toBe("/dashboard/account?a%0d%0aSet-Cookie:%20x=y")
})

test("a redirect to it stays here, whatever was sent", () => {
  const parts = fc.constantFrom(
    "/",
    "\\",
    "//",
    "dashboard",
    "account",
    "..",
    ":",
    "@",
    "?",
    "#",
    "%2f",
    "\t",
    "\n",
    "x.example",
    "http:",
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(parts).map(all => all.join("")),
        fc.webUrl(),
        fc.string({ unit: "binary" }),
      ),
      text => {
        const target = new URL(safeNextPath(text), "https://mk.example.com/sign-in/code")
        expect(target.origin).toBe("https://mk.example.com")
        expect(isSignedInPage(target.pathname)).toBe(true)
      },
    ),
  )
})

test("what comes after the sign-in stands in its paths, unless it is the usual", () => {
  expect(withNextPath("/sign-in", DEFAULT_NEXT_PATH)).toBe("/sign-in")
  expect(withNextPath("/sign-in", "/dashboard/account?a=b&c")).toBe("/sign-in?next=%2Fdashboard%2Faccount%3Fa%3Db%26c")
  expect(withNextPath("/sign-in/link", DEFAULT_NEXT_PATH, { token: "x" })).toBe("/sign-in/link?token=x")
})
