import { expect, test } from "bun:test"
import fc from "fast-check"
import { known, unknown } from "../../../src/base/finding.ts"
import { lookupDmarcPolicy } from "../../../src/check/mail/dmarc.ts"
import { type ZoneRecords, zone } from "../../support/zone.ts"

const OWN = "TXT _dmarc.acme.com"
const BELOW = "TXT _dmarc.mail.acme.com"

const policy = (records: ZoneRecords, domain = "acme.com") => lookupDmarcPolicy(zone(records).ask, domain, "acme.com")
const policyOf = async (...texts: readonly string[]) => {
  const finding = await policy({ [OWN]: texts })
  return finding.known ? finding.value : finding.cause
}

test("the domain's own policy is returned", async () => {
  expect(await policyOf("v=DMARC1; p=none")).toBe("none")
  expect(await policyOf("v=DMARC1; p=quarantine; rua=mailto:a@b.com")).toBe("quarantine")
  expect(await policyOf("v=DMARC1;p=reject;")).toBe("reject")
  expect(await policyOf("V = DMARC1 ;\tP = Reject ; pct=50")).toBe("reject")
  expect(await policyOf("v=DMARC1; rua=mailto:a@b.com; sp=none; p=reject")).toBe("reject")
  expect(await policyOf("other text", "v=DMARC1; p=reject", "v=spf1 -all")).toBe("reject")
})

test("a text whose first tag is not the version of the RFC is no record", async () => {
  for (const text of [
    "",
    "p=reject; v=DMARC1",
    " v=DMARC1; p=reject",
    "v=dmarc1; p=reject",
    "v=DMARC1p=reject",
    "v=DMARC2; p=reject",
    "v=DMARC10; p=reject",
    "DMARC1; p=reject",
  ])
    expect([text, await policyOf(text)]).toEqual([text, null])
  expect(await policyOf("v=dmarc1; p=reject", "v=DMARC1; p=none")).toBe("none")
})

test("no record is no policy, and neither are several", async () => {
  expect(await policyOf()).toBeNull()
  expect(await policy({})).toEqual(known(null))
  expect(await policyOf("v=DMARC1; p=reject", "v=DMARC1; p=reject")).toBeNull()
})

test("an invalid policy is `none` if reports are requested, else there is no policy", async () => {
  for (const tags of ["", "p=", "p=block", "p=reject; p=reject", "p", "p=reject; sp=block", "p=reject; sp="]) {
    expect([tags, await policyOf(`v=DMARC1; ${tags}`)]).toEqual([tags, null])
    expect([tags, await policyOf(`v=DMARC1; ${tags}; rua=mailto:a@b.com`)]).toEqual([tags, "none"])
  }
  expect(await policyOf("v=DMARC1")).toBeNull()
  expect(await policyOf("v=DMARC1; rua=b.com,https://b.com/r")).toBe("none")
  for (const rua of ["", "a@b.com", "mailto:", ",", ":x", "mailto: a"])
    expect([rua, await policyOf(`v=DMARC1; rua=${rua}`)]).toEqual([rua, null])
})

test("a domain without a record has its organisational domain's policy for subdomains", async () => {
  const below = (text: string) => policy({ [OWN]: [text] }, "mail.acme.com")
  expect(await below("v=DMARC1; p=reject")).toEqual(known("reject"))
  expect(await below("v=DMARC1; p=reject; sp=none")).toEqual(known("none"))
  expect(await below("v=DMARC1; p=none; sp=quarantine")).toEqual(known("quarantine"))
  expect(await below("v=DMARC1; p=reject; sp=block")).toEqual(known(null))
  expect(await below("v=DMARC1; sp=reject")).toEqual(known(null))
  expect(await policyOf("v=DMARC1; p=reject; sp=none")).toBe("reject")
})

test("a domain's own records win over the organisational domain's, several records too", async () => {
  const above = { [OWN]: ["v=DMARC1; p=reject"] }
  expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=none"] }, "mail.acme.com")).toEqual(known("none"))
  expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=none; sp=reject"] }, "mail.acme.com")).toEqual(known("none"))
  expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=none", "v=DMARC1; p=none"] }, "mail.acme.com")).toEqual(
    known(null),
  )
  expect(await policy({ ...above, [BELOW]: ["something"] }, "mail.acme.com")).toEqual(known("reject"))
})

test("a failed query that decides leaves the policy unknown", async () => {
  const record = ["v=DMARC1; p=reject"]
  expect(await policy({ [OWN]: "timed_out" })).toEqual(unknown("timed_out"))
  expect(await policy({ [BELOW]: "unavailable", [OWN]: record }, "mail.acme.com")).toEqual(unknown("unavailable"))
  expect(await policy({ [OWN]: "timed_out" }, "mail.acme.com")).toEqual(unknown("timed_out"))
  expect(await policy({ [BELOW]: record, [OWN]: "timed_out" }, "mail.acme.com")).toEqual(known("reject"))
})

test("one name is queried once, two names at the same time, and a name that is too long never", async () => {
  const { ask, requests: queries } = zone({})
  await lookupDmarcPolicy(ask, "acme.com", "acme.com")
  expect(queries.splice(0)).toEqual([OWN])
  const below = lookupDmarcPolicy(ask, "mail.acme.com", "acme.com")
  expect(queries.splice(0)).toEqual([BELOW, OWN])
  await below
  expect(await lookupDmarcPolicy(ask, `${"a".repeat(60)}.`.repeat(4).slice(0, -1), "acme.com")).toEqual(known(null))
  await lookupDmarcPolicy(ask, `${"a.".repeat(122)}acme.com`, "acme.com")
  expect(queries.at(-1)).toBe(OWN)
})

test("no text makes it throw", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async text =>
      [null, "none", "quarantine", "reject"].includes(await policyOf(`v=DMARC1; ${text}`)),
    ),
  )
})
