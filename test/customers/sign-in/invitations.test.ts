import { expect } from "bun:test"
import { DAY_MS, utcDay } from "../../../src/base/time.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createAccount, removeAccount } from "../../../src/customers/accounts/accounts.ts"
import {
  findInvitation,
  invitationOf,
  invite,
  listInvitations,
  pruneInvitations,
  revokeInvitation,
} from "../../../src/customers/sign-in/invitations.ts"
import { signIn } from "../../../src/customers/sign-in/sign-in.ts"
import { trustedAt } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { random, tempLog, tempStore } from "../temp-store.ts"

const EMAIL = "jane@example.com"
const INVITATION_MS = LIMITS.invitationDays * DAY_MS

/** A store of a closed server, with a clock that can be set. */
async function closed() {
  const store = await tempStore()
  const state = { now: Date.UTC(2026, 10, 29) }
  const clock = () => state.now
  const log = { ...tempLog(store), clock }
  const deps = { store, clock, today: () => utcDay(clock()), random, maySignUp: () => false, newAccountTier: 0 }
  const invited = async (email = EMAIL, tier = 2) => {
    const result = await invite(log, random, { email, tier })
    if (result.kind !== "invited") throw new Error(result.kind)
    return result
  }
  return {
    ...{ store, state, clock, log, invited },
    accept: async (link: string) => await signIn(deps, { kind: "invitation", link }, "Firefox on Linux"),
    emails: async () => (await store.all<{ email: string }>("SELECT email FROM accounts")).map(({ email }) => email),
    acts: async () =>
      (await store.all<{ act: string }>("SELECT act FROM admin_acts ORDER BY act")).map(({ act }) => act),
  }
}

test("an invitation that is accepted by many at once makes one account and signs in one of them", async () => {
  const { invited, accept, emails, acts, store } = await closed()
  const { link } = await invited()
  const kinds = (await Promise.all(Array.from({ length: 8 }, () => accept(link)))).map(({ kind }) => kind)
  expect(kinds.filter(kind => kind === "signed_in")).toHaveLength(1)
  expect(kinds.filter(kind => kind === "gone")).toHaveLength(7)
  expect(await emails()).toEqual([EMAIL])
  expect(await store.all("SELECT tier FROM accounts")).toEqual([{ tier: 2 }])
  expect(await acts()).toEqual(expect.arrayContaining(["account_invited", "invitation_accepted", "signed_in"]))
})

test("two invitations of one address at once leave one, whose link works", async () => {
  const { invited, accept, store, clock } = await closed()
  const links = await Promise.all([invited(), invited(), invited()])
  expect(await listInvitations(store, clock)).toHaveLength(1)
  const kinds = []
  for (const { link } of links) kinds.push((await accept(link)).kind)
  expect(kinds.filter(kind => kind === "signed_in")).toHaveLength(1)
})

test("an invitation is valid for its days and not a millisecond longer, and is pruned then", async () => {
  const { invited, accept, state, store, clock, emails } = await closed()
  const { link } = await invited()
  state.now += INVITATION_MS - 1
  expect(await findInvitation(store, clock, link)).toEqual({ email: EMAIL, tier: 2 })
  expect(await pruneInvitations(store, trustedAt(state.now), 10)).toBe(0)
  state.now += 1
  expect([await findInvitation(store, clock, link), await listInvitations(store, clock)]).toEqual([null, []])
  expect([(await accept(link)).kind, await emails()]).toEqual(["gone", []])
  expect(await pruneInvitations(store, trustedAt(state.now), 10)).toBe(1)
  expect(await store.all("SELECT id FROM invitations")).toEqual([])
})

test("an invitation that is revoked by its address or its id lets nobody in, and is revoked once", async () => {
  const { invited, accept, store, log, emails, acts } = await closed()
  const byAddress = await invited()
  const byId = await invited("ada@example.com")
  expect(await invitationOf(store, "Jane@EXAMPLE.com")).toBe(byAddress.invitation.id)
  for (const { invitation, link } of [byAddress, byId]) {
    expect([await revokeInvitation(log, invitation.id), await revokeInvitation(log, invitation.id)]).toEqual([
      true,
      false,
    ])
    expect((await accept(link)).kind).toBe("gone")
  }
  expect([await emails(), await invitationOf(store, EMAIL)]).toEqual([[], null])
  expect((await acts()).filter(act => act === "invitation_revoked")).toHaveLength(2)
})

test("an account of the address ends its invitation, which brings nobody back when the account is deleted", async () => {
  const { invited, accept, store, log, emails } = await closed()
  const { link } = await invited()
  const creation = await createAccount(log, random, { email: EMAIL, tier: 0, termsVersion: null })
  expect(await listInvitations(store, log.clock)).toEqual([])
  expect(creation.kind === "created" && (await removeAccount(log, creation.account.id))).toBe(true)
  expect([(await accept(link)).kind, await emails()]).toEqual(["gone", []])
})

test("valid invitations are bounded, expired ones do not count, and an address that is invited can be invited again", async () => {
  const { invited, log, state, store } = await closed()
  await invited()
  await store.run(
    `WITH RECURSIVE counted (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM counted WHERE i < ${LIMITS.invitationsMax})
     INSERT INTO invitations (id, link_hash, email_hash, email_by_link, tier, created_at_ms)
     SELECT 'inv_' || i, 'l' || i, 'e' || i, '', 0, CAST($1 AS BIGINT) FROM counted`,
    [state.now],
  )
  const ada = { email: "ada@example.com", tier: 0 }
  expect(await invite(log, random, ada)).toEqual({ kind: "too_many_invitations" })
  expect((await invited()).kind).toBe("invited")
  state.now += INVITATION_MS
  expect((await invite(log, random, ada)).kind).toBe("invited")
})

test("no row holds an address that is invited", async () => {
  const { invited, store } = await closed()
  await invited()
  const rows = JSON.stringify([
    await store.all("SELECT * FROM invitations"),
    await store.all("SELECT * FROM admin_acts"),
  ])
  expect(rows).not.toMatch(/jane|example/)
})
