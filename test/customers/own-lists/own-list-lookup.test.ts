import { describe, expect, test } from "bun:test"
import { NOT_ON_OWN_LISTS } from "../../../src/customers/own-lists/own-list-cache.ts"
import { newAccount } from "../temp-store.ts"
import { openListsOfJane } from "./open-lists.ts"

describe("standing", () => {
  test.each([
    ["nobody", [], { blockedBy: null, isAllowed: false, isOperatorAllowed: false }],
    ["the account's block list", ["own block"], { blockedBy: "account", isAllowed: false, isOperatorAllowed: false }],
    [
      "the operator's block list",
      ["operator block"],
      { blockedBy: "operator", isAllowed: false, isOperatorAllowed: false },
    ],
    [
      "both block lists",
      ["own block", "operator block"],
      { blockedBy: "operator", isAllowed: false, isOperatorAllowed: false },
    ],
    ["the account's allow list", ["own allow"], { blockedBy: null, isAllowed: true, isOperatorAllowed: false }],
    ["the operator's allow list", ["operator allow"], { blockedBy: null, isAllowed: false, isOperatorAllowed: true }],
    [
      "both of the account's",
      ["own block", "own allow"],
      { blockedBy: "account", isAllowed: true, isOperatorAllowed: false },
    ],
    [
      "the operator's block, the account's allow",
      ["operator block", "own allow"],
      { blockedBy: "operator", isAllowed: true, isOperatorAllowed: false },
    ],
    [
      "both of the operator's",
      ["operator block", "operator allow"],
      { blockedBy: "operator", isAllowed: false, isOperatorAllowed: true },
    ],
    [
      "all",
      ["own block", "own allow", "operator block", "operator allow"],
      { blockedBy: "operator", isAllowed: true, isOperatorAllowed: true },
    ],
  ] as const)("of a domain and of an address on %s", async (_, on, expected) => {
    const { jane, add, ask } = await openListsOfJane()
    for (const place of on) {
      const list = place.endsWith("block") ? "block" : "allow"
      await add(place.startsWith("own") ? jane : "operator", list, "acme.com", "Jane@other.com")
    }
    const requests = [
      "acme.com",
      "x@acme.com",
      "mail.acme.com",
      "joan@mail.acme.com",
      "jane@other.com",
      "JANE+y@other.com",
    ]
    for (const text of requests) expect(await ask(jane.accountId, text)).toEqual(expected)
    for (const text of ["other.com", "joan@other.com", "jane@mail.other.com", "xacme.com"])
      expect(await ask(jane.accountId, text)).toBe(NOT_ON_OWN_LISTS)
  })

  test("an account has its own lists and nobody else's", async () => {
    const { jane, add, ask, log } = await openListsOfJane()
    const joan = { accountId: await newAccount(log, "joan@example.com") }
    await add(jane, "block", "acme.com")
    await add(joan, "allow", "acme.com")
    expect(await ask(jane.accountId, "acme.com")).toMatchObject({ blockedBy: "account", isAllowed: false })
    expect(await ask(joan.accountId, "acme.com")).toMatchObject({ blockedBy: null, isAllowed: true })
    expect(await ask("acc_none", "acme.com")).toBe(NOT_ON_OWN_LISTS)
  })

  test("a wildcard and a parent match on label boundaries", async () => {
    const { jane, add, ask } = await openListsOfJane()
    await add(jane, "block", "*.acme.com", "bücher.example")
    const isBlocked = async (text: string) => (await ask(jane.accountId, text)).blockedBy === "account"
    for (const text of ["a.acme.com", "x@a.b.acme.com", "xn--bcher-kva.example", "x@shop.bücher.example"])
      expect([text, await isBlocked(text)]).toEqual([text, true])
    for (const text of ["acme.com", "x@acme.com", "aacme.com", "bcher.example", "acme.com.example"])
      expect([text, await isBlocked(text)]).toEqual([text, false])
  })

  test("what matches nothing is one object that cannot be changed", () => {
    expect(NOT_ON_OWN_LISTS).toEqual({ blockedBy: null, isAllowed: false, isOperatorAllowed: false })
    expect(Object.isFrozen(NOT_ON_OWN_LISTS)).toBe(true)
  })
})
