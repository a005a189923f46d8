import { expect, test } from "bun:test"
import type { IdentityResponse } from "../../../src/check/tenant/identity-endpoint.ts"
import { parseTenantSignIn, userRealmUrl } from "../../../src/check/tenant/tenant-sign-in.ts"

const OKTA = "https://acme.okta.com/app/office365/exk1/sso/wsfed/passive"
const signIn = (json: unknown) => parseTenantSignIn({ kind: "answered", json }, "acme.com")

test("the users of a managed domain sign in at suite_b itself, whatever the sign-in URL", () => {
  expect(signIn({ NameSpaceType: "Managed" })).toEqual({ auth: "managed", identityProvider: null })
  expect(signIn({ NameSpaceType: "Managed", AuthURL: OKTA })).toEqual({ auth: "managed", identityProvider: null })
})

test("the users of a federated domain sign in at the provider of the sign-in URL", () => {
  expect(signIn({ NameSpaceType: "Federated", AuthURL: OKTA })).toEqual({ auth: "federated", identityProvider: "okta" })
  expect(signIn({ NameSpaceType: "Federated", AuthURL: "https://sso.acme.com/" })).toEqual({
    auth: "federated",
    identityProvider: "self_hosted",
  })
})

test("a federated domain without a valid sign-in URL has no provider", () => {
  for (const AuthURL of [undefined, null, 7, "", "javascript:alert(1)", [OKTA], `${OKTA}${"a".repeat(100_000)}`]) {
    expect(signIn({ NameSpaceType: "Federated", AuthURL })).toEqual({ auth: "federated", identityProvider: null })
  }
})

test("any other kind of realm is unknown", () => {
  for (const NameSpaceType of ["Unknown", "managed", "Other\u0000", "", null, 7, ["Managed"], undefined]) {
    expect(signIn({ NameSpaceType, AuthURL: OKTA })).toEqual({ auth: null, identityProvider: null })
  }
})

test("a response that is no JSON object is unknown", () => {
  const replies: readonly IdentityResponse[] = [
    { kind: "failed" },
    { kind: "timed_out" },
    { kind: "refused", status: 400, retryAfterMs: null },
    { kind: "answered", json: null },
    { kind: "answered", json: "Managed" },
  ]
  for (const reply of replies) expect(parseTenantSignIn(reply, "acme.com")).toBeNull()
})

test("no local part is sent, and a domain cannot leave its parameter", () => {
  expect(userRealmUrl("https://login.example", "acme.com")).toBe(
    "https://login.example/getuserrealm.srf?login=x@acme.com&json=1",
  )
  expect(userRealmUrl("https://login.example", "a&b=c")).toBe(
    "https://login.example/getuserrealm.srf?login=x@a%26b%3Dc&json=1",
  )
})
