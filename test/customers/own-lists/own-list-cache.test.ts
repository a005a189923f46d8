import { describe, expect, test } from "bun:test"
import { parseSubject } from "../../../src/check/address/parse-subject.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { NOT_ON_OWN_LISTS } from "../../../src/customers/own-lists/own-list-cache.ts"
import { CHANGE_KINDS, readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { settled } from "../../support/time.ts"
import { newAccount, tempPlace } from "../temp-store.ts"
import { openLists, openListsOfJane } from "./open-lists.ts"

describe("what is held", () => {
  test("the first question of an account asks the store, the next ones neither it nor for a promise", async () => {
    const { jane, add, ask, isHeld, lists, outside } = await openListsOfJane()
    await add(jane, "block", "acme.com")
    outside.requests.length = 0
    await lists.load()
    await ask(jane.accountId, "a.com")
    await ask("acc_none", "a.com")
    expect(outside.requests).toEqual(["operator", jane.accountId, "acc_none"])
    expect(lists.lookup(jane.accountId, parseSubject("domain", "acme.com", ""))).toMatchObject({ blockedBy: "account" })
    expect(lists.lookup(jane.accountId, parseSubject("email", "x@x.com", ""))).toBe(NOT_ON_OWN_LISTS)
    expect(lists.lookup("acc_none", parseSubject("domain", "acme.com", ""))).toBe(NOT_ON_OWN_LISTS)
    expect([isHeld(jane.accountId), isHeld("acc_none"), isHeld("acc_new")]).toEqual([true, true, false])
  })

  test("many who ask at once share one reading", async () => {
    const { jane, ask, outside } = await openListsOfJane()
    await Promise.all(Array.from({ length: 50 }, () => ask(jane.accountId, "acme.com")))
    expect(outside.requests).toEqual(["operator", jane.accountId])
  })

  test("a store that fails is no answer, and is asked again", async () => {
    const { jane, add, ask, outside, lists } = await openListsOfJane()
    await add(jane, "block", "acme.com")
    outside.isBroken = true
    expect(await outcomeOf(ask(jane.accountId, "acme.com"))).toThrow("broken")
    expect(await outcomeOf(lists.load())).toThrow("broken")
    outside.isBroken = false
    expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy: "account" })
    outside.isBroken = true
    expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy: "account" })
  })

  test("accounts with entries give way by their number, the one that was asked for longest ago first", async () => {
    const { jane, add, ask, isHeld, log } = await openListsOfJane({ bounds: { accountsMax: 2 } })
    const ids = [jane.accountId, await newAccount(log, "b@x.com"), await newAccount(log, "c@x.com")]
    for (const accountId of ids) await add({ accountId }, "block", "acme.com")
    const [first = "", second = "", third = ""] = ids
    for (const id of [first, second, first, third])
      expect(await ask(id, "acme.com")).toMatchObject({ blockedBy: "account" })
    expect([isHeld(first), isHeld(third), isHeld(second)]).toEqual([true, true, false])
    expect(await ask(second, "acme.com")).toMatchObject({ blockedBy: "account" })
  })

  test("accounts with entries give way by their entries together", async () => {
    const { jane, add, ask, isHeld, log } = await openListsOfJane({ bounds: { entriesMax: 5 } })
    const [joan, many] = [await newAccount(log, "b@x.com"), await newAccount(log, "c@x.com")]
    await add(jane, "block", "a.com", "b.com")
    await add(jane, "allow", "a.com")
    await add({ accountId: joan }, "block", "a.com", "b.com")
    await add({ accountId: many }, "block", "a.com", "b.com", "c.com", "d.com", "e.com", "f.com")
    for (const id of [jane.accountId, joan]) await ask(id, "a.com")
    expect([isHeld(jane.accountId), isHeld(joan)]).toEqual([true, true])
    for (let times = 0; times < 2; times++) expect(await ask(many, "f.com")).toMatchObject({ blockedBy: "account" })
    expect(isHeld(many)).toBe(false)
    await add({ accountId: joan }, "allow", "c.com")
    expect(await ask(joan, "c.com")).toMatchObject({ isAllowed: true })
    expect([isHeld(joan), isHeld(jane.accountId)]).toEqual([true, false])
  })

  test("accounts without entries push out none that have some, and only so many are remembered", async () => {
    const { jane, add, ask, isHeld } = await openListsOfJane({ bounds: { accountsMax: 1, emptyMax: 2 } })
    await add(jane, "block", "acme.com")
    for (const id of [jane.accountId, "acc_1", "acc_2", "acc_3"]) await ask(id, "acme.com")
    expect([jane.accountId, "acc_3", "acc_2", "acc_1"].map(isHeld)).toEqual([true, true, true, false])
  })
})

describe("change", () => {
  test("what is added or removed here is in force at once", async () => {
    const { jane, add, remove, ask } = await openListsOfJane()
    const steps = [
      [() => add(jane, "block", "acme.com"), "account"],
      [() => add("operator", "block", "acme.com"), "operator"],
      [() => remove(jane, "block", "acme.com"), "operator"],
      [() => remove("operator", "block", "acme.com"), null],
    ] as const
    expect(await ask(jane.accountId, "acme.com")).toBe(NOT_ON_OWN_LISTS)
    for (const [step, blockedBy] of steps) {
      await step()
      expect((await ask(jane.accountId, "acme.com")).blockedBy).toBe(blockedBy)
    }
  })

  test("what is changed elsewhere is in force once the change log is read", async () => {
    const path = tempPlace()
    const here = await openListsOfJane({ path })
    const there = await openLists({ path })
    expect(await here.ask(here.jane.accountId, "acme.com")).toBe(NOT_ON_OWN_LISTS)
    await there.add(here.jane, "allow", "acme.com")
    await there.add("operator", "block", "acme.com")
    expect(await here.ask(here.jane.accountId, "acme.com")).toBe(NOT_ON_OWN_LISTS)
    const read = await readChangesSince(here.store, 0)
    if (read.kind === "read") here.lists.applyChanges(read.changes)
    expect(await here.ask(here.jane.accountId, "acme.com")).toEqual({
      blockedBy: "operator",
      isAllowed: true,
      isOperatorAllowed: false,
    })
  })

  test("a change of one owner's lists drops those alone", async () => {
    const { jane, add, ask, outside, log } = await openListsOfJane()
    const joan = { accountId: await newAccount(log, "joan@example.com") }
    for (const owner of [jane, joan]) await add(owner, "block", "acme.com")
    for (const { accountId } of [jane, joan]) await ask(accountId, "acme.com")
    outside.requests.length = 0
    await add(jane, "block", "b.com")
    for (const { accountId } of [jane, joan, jane]) await ask(accountId, "acme.com")
    await add("operator", "block", "b.com")
    for (const { accountId } of [jane, joan, jane]) await ask(accountId, "acme.com")
    expect(outside.requests).toEqual([jane.accountId, "operator"])
  })

  test("a removed account's lists hold no longer", async () => {
    const { jane, add, ask, log } = await openListsOfJane()
    await add(jane, "block", "acme.com")
    expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy: "account" })
    await removeAccount(log, jane.accountId)
    expect(await ask(jane.accountId, "acme.com")).toBe(NOT_ON_OWN_LISTS)
  })

  for (const blockedBy of ["account", "operator"] as const)
    test(`a reading of the ${blockedBy}'s lists that began before a change of them is not joined and not held after it`, async () => {
      const { jane, add, ask, outside, isHeld } = await openListsOfJane()
      const gate = Promise.withResolvers<void>()
      outside.gate = gate.promise
      const early = ask(jane.accountId, "acme.com")
      await settled()
      await add(blockedBy === "account" ? jane : "operator", "block", "acme.com")
      const late = ask(jane.accountId, "acme.com")
      gate.resolve()
      expect(await early).toBe(NOT_ON_OWN_LISTS)
      expect(await late).toMatchObject({ blockedBy })
      expect(isHeld(jane.accountId)).toBe(true)
      expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy })
      expect(await ask(jane.accountId, "other.com")).toBe(NOT_ON_OWN_LISTS)
    })

  test("a reading that a change overtook leaves nothing behind, even when nobody asks after it", async () => {
    const { jane, add, ask, outside, isHeld } = await openListsOfJane()
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    const early = ask(jane.accountId, "acme.com")
    await settled()
    await add(jane, "block", "acme.com")
    gate.resolve()
    expect(await early).toBe(NOT_ON_OWN_LISTS)
    expect(isHeld(jane.accountId)).toBe(false)
    expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy: "account" })
  })

  test("a reading that began before the log was lost is not joined and not held after it", async () => {
    const path = tempPlace()
    const { jane, ask, outside, lists, isHeld } = await openListsOfJane({ path })
    const there = await openLists({ path })
    const gate = Promise.withResolvers<void>()
    outside.gate = gate.promise
    const early = ask(jane.accountId, "acme.com")
    await settled()
    await there.add(jane, "block", "acme.com")
    lists.invalidateAll()
    const late = ask(jane.accountId, "acme.com")
    gate.resolve()
    expect(await early).toBe(NOT_ON_OWN_LISTS)
    expect(await late).toMatchObject({ blockedBy: "account" })
    expect(isHeld(jane.accountId)).toBe(true)
    expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy: "account" })
  })

  test("a lost log, and a change of a kind that this version does not know, make it ask for everything again", async () => {
    const { jane, add, ask, isHeld, lists, outside } = await openListsOfJane()
    await add(jane, "block", "acme.com")
    const drops = [
      () => lists.invalidateAll(),
      () => lists.applyChanges([{ kind: "lists_of_the_future", subject: "x" }]),
    ]
    for (const drop of drops) {
      for (const id of [jane.accountId, "acc_none"]) await ask(id, "acme.com")
      outside.requests.length = 0
      drop()
      for (const id of [jane.accountId, "acc_none"]) expect(isHeld(id)).toBe(false)
      await ask(jane.accountId, "acme.com")
      await ask("acc_none", "acme.com")
      expect(outside.requests.toSorted()).toEqual([jane.accountId, "acc_none", "operator"].toSorted())
    }
  })

  for (const kind of Object.keys(CHANGE_KINDS))
    test(`a change of kind ${kind} ${kind === "own_lists_changed" || kind === "account_removed" ? "drops" : "keeps"} the lists of its subject`, async () => {
      const { jane, add, ask, isHeld, lists } = await openListsOfJane()
      await add(jane, "block", "acme.com")
      await ask(jane.accountId, "acme.com")
      lists.applyChanges([])
      expect(isHeld(jane.accountId)).toBe(true)
      lists.applyChanges([{ kind, subject: jane.accountId }])
      expect(isHeld(jane.accountId)).toBe(kind !== "own_lists_changed" && kind !== "account_removed")
    })
})
