import { expect, test } from "bun:test"
import { assertSameOrigin, assertSameOriginFetch } from "../../../src/http/site/same-origin.ts"

/** Whether a form is taken that says where it was sent from and to. */
function isTaken(base: string, origin: string, host: string): boolean {
  const headers = { Origin: origin, Host: host }
  try {
    assertSameOrigin(new Request("http://127.0.0.1/sign-in", { method: "POST", headers }), base)
    return true
  } catch {
    return false
  }
}

const PUBLIC = "https://checks.example"

test("a form from the public address is taken, whatever a proxy asks for here", () => {
  for (const host of ["checks.example", "127.0.0.1:8080", "mailkind.internal"])
    expect(isTaken(PUBLIC, PUBLIC, host)).toBe(true)
})

test("a form from a second address of the machine is taken", () => {
  for (const host of ["127.0.0.1:8080", "[::1]:8080", "localhost:8080", "192.0.2.7"])
    expect(isTaken(PUBLIC, `http://${host}`, host)).toBe(true)
})

test("a name that somebody has lead here does not send forms to a server that has a name of its own", () => {
  for (const host of [
    "rebound.example",
    "rebound.example:8080",
    "localhost.rebound.example",
    "127.0.0.1.rebound.example",
  ])
    expect(isTaken(PUBLIC, `http://${host}`, host)).toBe(false)
})

test("the public name without HTTPS, or at another port, is not the public address", () => {
  expect(isTaken(PUBLIC, "http://checks.example", "checks.example")).toBe(false)
  expect(isTaken(PUBLIC, "https://checks.example:8443", "checks.example:8443")).toBe(false)
})

test("a server whose public address is no name takes forms under no name either", () => {
  for (const base of ["http://localhost:8080", "http://192.0.2.7:8080", "http://[::1]:8080"]) {
    for (const name of [
      "machine.lan:8080",
      "rebound.example:8080",
      "localhost.:8080",
      "localhost.rebound.example",
      "[::1].example",
    ])
      expect(isTaken(base, `http://${name}`, name)).toBe(false)
    expect(isTaken(base, "http://machine.lan:8080", "localhost:8080")).toBe(false)
    // The address of another machine, or of another port of this one, is another site.
    expect(isTaken(base, "http://192.0.2.8:8080", "192.0.2.7:8080")).toBe(false)
    expect(isTaken(base, "http://localhost:3000", "localhost:8080")).toBe(false)
    for (const host of ["localhost:8080", "192.0.2.7:8080", "[::1]:8080"])
      expect(isTaken(base, `http://${host}`, host)).toBe(true)
  }
})

test("what a page of another site fetches is refused, also one of a sibling host, and what a person opens is not", () => {
  const isFetched = (site: string | null): boolean => {
    try {
      assertSameOriginFetch(new Request(PUBLIC, { headers: site === null ? {} : { "Sec-Fetch-Site": site } }))
      return true
    } catch {
      return false
    }
  }
  expect(["cross-site", "same-site", "same-origin", "none", null].map(isFetched)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ])
})
