import { expect, test } from "bun:test"
import { known, unknown } from "../../../src/base/finding.ts"
import type { IdentityResponse } from "../../../src/check/tenant/identity-endpoint.ts"
import { openidConfigurationUrl, parseTenant } from "../../../src/check/tenant/tenant-lookup.ts"

const ID = "6babcaad-604b-40ac-a9d7-9fd97c0b779f"

const facts = (json: unknown): IdentityResponse => ({ kind: "answered", json })
const refused = (status: number): IdentityResponse => ({ kind: "refused", status, retryAfterMs: null })
const issuedBy = (issuer: unknown) => parseTenant(facts({ issuer }))
const inRegion = (region: unknown) =>
  parseTenant(facts({ issuer: `https://login.example/${ID}/v2.0`, tenant_region_scope: region }))

test("a tenant's id is read from both forms of its issuer, in lower case", () => {
  for (const issuer of [
    `https://login.microsoftonline.com/${ID}/v2.0`,
    `https://login.partner.microsoftonline.cn/${ID}/v2.0`,
    `https://sts.windows.net/${ID}/`,
    `https://sts.windows.net/${ID}`,
    `http://127.0.0.1:8080/${ID}/v2.0/`,
    `https://login.example/${ID.toUpperCase()}/v2.0`,
  ]) {
    expect(issuedBy(issuer)).toEqual(known({ id: ID, region: null }))
  }
})

test("an issuer without a tenant is unavailable", () => {
  for (const issuer of [
    undefined,
    null,
    7,
    [`https://sts.windows.net/${ID}/`],
    "",
    ID,
    `https://login.example/{tenantid}/v2.0`,
    `https://login.example/common/${ID}/v2.0`,
    `https://login.example/${ID}/v2.0/x`,
    `https://login.example/${ID}/v3.0`,
    `https://login.example/${ID}0/v2.0`,
    `https://login.example/${ID.slice(1)}/v2.0`,
    `https://login.example/${ID.replaceAll("-", "")}/v2.0`,
    `https://login.example/?${ID}`,
    `javascript://login.example/${ID}/v2.0`,
    `https://login.example/${ID}/v2.0\n`,
    `x https://login.example/${ID}/v2.0`,
    `https://login example/${ID}/v2.0`,
  ]) {
    expect([issuer, issuedBy(issuer)]).toEqual([issuer, unknown("unavailable")])
  }
})

test("the region is returned without control characters, at most 32 characters of it", () => {
  for (const region of ["EU", "NA", "WW", "USGov", "USG"]) expect(inRegion(region)).toEqual(known({ id: ID, region }))
  expect(inRegion("\u001b[31mE\u0000U\u202e")).toEqual(known({ id: ID, region: "[31mEU" }))
  expect(inRegion("r".repeat(32))).toEqual(known({ id: ID, region: "r".repeat(32) }))
  expect(inRegion("r".repeat(33))).toEqual(known({ id: ID, region: "r".repeat(32) }))
})

test("a region that is empty, missing or no text is null", () => {
  for (const region of [undefined, null, "", " \u0000", 7, ["EU"], { EU: 1 }]) {
    expect(inRegion(region)).toEqual(known({ id: ID, region: null }))
  }
})

test("the consumers' tenant is no domain's tenant", () => {
  expect(issuedBy("https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0")).toEqual(known(null))
  expect(issuedBy("https://sts.windows.net/9188040D-6C67-4C5B-B112-36A304B66DAD/")).toEqual(known(null))
})

test("status 400 means that there is no tenant, and every other status is unavailable", () => {
  expect(parseTenant(refused(400))).toEqual(known(null))
  for (const status of [204, 301, 302, 399, 401, 403, 404, 429, 500, 502, 503]) {
    expect([status, parseTenant(refused(status))]).toEqual([status, unknown("unavailable")])
  }
})

test("a timeout is distinguished from a failure", () => {
  expect(parseTenant({ kind: "timed_out" })).toEqual(unknown("timed_out"))
  expect(parseTenant({ kind: "failed" })).toEqual(unknown("unavailable"))
})

test("JSON that is no object is unavailable", () => {
  for (const json of [null, [], "text", 7, true]) expect(parseTenant(facts(json))).toEqual(unknown("unavailable"))
})

test("a domain cannot leave its segment of the path", () => {
  expect(openidConfigurationUrl("https://login.example", "acme.com")).toBe(
    "https://login.example/acme.com/v2.0/.well-known/openid-configuration",
  )
  expect(openidConfigurationUrl("https://login.example", "a/b?c#d")).toBe(
    "https://login.example/a%2Fb%3Fc%23d/v2.0/.well-known/openid-configuration",
  )
})
