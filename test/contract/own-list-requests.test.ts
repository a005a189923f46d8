import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../src/contract/limits.ts"
import { inTurn } from "../../src/customers/accounts/change-turns.ts"
import { addEntries, removeEntries } from "../../src/customers/own-lists/own-lists.ts"
import { type ApiResponse, testApp } from "../support/app.ts"
import { anotherAccount } from "./another-account.ts"
import { entry } from "./own-list-entry.ts"

const JSON_TYPE = { "Content-Type": "application/json" }
const ADDRESS = "jane.secret@acme.com"

type Sent = { readonly key?: string; readonly again?: string }

/** A server, and what is asked of its lists. */
async function lists(options: Parameters<typeof testApp>[0] = {}) {
  const app = await testApp(options)
  const send = (line: string, body?: unknown, { key, again }: Sent = {}): Promise<ApiResponse> =>
    app.ask(line, {
      headers: { ...JSON_TYPE, ...(again === undefined ? {} : { "Idempotency-Key": again }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(key === undefined ? {} : { key }),
    })
  const add = (entries: unknown, sent?: Sent) => send("POST /v1/block-list", { entries }, sent)
  const listed = async (list = "block-list", key?: string) => {
    const { body } = await send(`GET /v1/${list}?limit=1000`, undefined, key === undefined ? {} : { key })
    return (body["entries"] as { readonly entry: string }[]).map(({ entry }) => entry)
  }
  const otherKey = async () => (await anotherAccount(app.changes)).key
  return { ...app, send, add, listed, otherKey }
}

const statusesOf = ({ body }: ApiResponse): readonly string[] =>
  (body["results"] as { readonly status: string }[]).map(({ status }) => status)

const names = (from: number, count: number) => Array.from({ length: count }, (_, at) => `name${from + at}.example`)

describe("entries", () => {
  test("are added, told one by one, counted in the next check, and removed by their value", async () => {
    const { send, add, listed } = await lists()
    const check = async () => (await send("POST /v1/check", { email: ADDRESS })).body["recommendation"]
    const sent = [ADDRESS, { entry: "Acme.org", note: "a competitor" }, "*.zip", "acme.org", "no entry", "com"]
    const added = await add(sent)
    expect(added).toMatchObject({ status: 200, body: { added: 3, present: 1, invalid: 2 } })
    expect(statusesOf(added)).toEqual(["added", "added", "added", "present", "invalid", "invalid"])
    expect(await check()).toBe("block")
    expect(statusesOf(await add(sent))).toEqual(["present", "present", "present", "present", "invalid", "invalid"])
    const removed = await send("DELETE /v1/block-list", { entries: ["JANE.secret@acme.com", "b.com", "x y", ADDRESS] })
    expect(removed).toMatchObject({ status: 200, body: { removed: 1, absent: 2, invalid: 1 } })
    expect(statusesOf(removed)).toEqual(["removed", "absent", "invalid", "absent"])
    expect(await check()).not.toBe("block")
    expect(await listed()).toEqual(["*.zip", "acme.org"])
  })

  test("are removed by a query too, since some clients send no body with DELETE", async () => {
    const { send, add, listed } = await lists()
    await add(["acme.com", "*.zip", "b.com"])
    expect(statusesOf(await send("DELETE /v1/block-list?entry=acme.com&entry=%2A.zip&entry=%20"))).toEqual([
      ...["removed", "removed", "invalid"],
    ])
    expect(await send("DELETE /v1/block-list?entry=%FF")).toMatchObject({ status: 400 })
    expect(await send("DELETE /v1/block-list")).toMatchObject({ status: 400 })
    expect(await listed()).toEqual(["b.com"])
  })

  test("that a query and a body name are refused with both, and an empty body names none", async () => {
    const { send, add, listed } = await lists()
    await add(["acme.com", "b.com"])
    const refused = await send("DELETE /v1/block-list?entry=acme.com", { entries: ["b.com"] })
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_input" } })
    expect(refused.body["errors"]).toMatchObject([{ parameter: "entry" }, { pointer: "/entries" }])
    expect(await listed()).toEqual(["acme.com", "b.com"])
    expect(statusesOf(await send("DELETE /v1/block-list?entry=acme.com", {}))).toEqual(["removed"])
    expect(await listed()).toEqual(["b.com"])
  })

  test("may be a thousand of the longest names with the longest notes, in which each letter is escaped", async () => {
    const { ask } = await lists()
    const letter = "\\u00e9"
    const domain = (at: number) => `${at}.${"name.".repeat(48)}example`
    const entries = Array.from({ length: LIMITS.ownListRequestEntriesMax }, (_, at) => {
      return `{"entry": "${domain(1000 + at)}", "note": "${letter.repeat(LIMITS.ownListNoteLengthMax)}"}`
    })
    const body = `{"entries": [${entries.join(", ")}]}`
    expect(await ask("POST /v1/block-list", { headers: JSON_TYPE, body })).toMatchObject({
      ...{ status: 200, body: { added: entries.length } },
    })
    expect(
      await ask("POST /v1/block-list", { headers: JSON_TYPE, body: body.padEnd(LIMITS.ownListBodyBytesMax + 1) }),
    ).toMatchObject({
      ...{ status: 413, body: { code: "payload_too_large", limit: LIMITS.ownListBodyBytesMax } },
    })
  })

  test("are shown by pages in one order, and one alone by its exact value", async () => {
    const { send, add } = await lists()
    await add([...names(0, 25), ADDRESS, "*.name1.example"])
    const seen: string[] = []
    for (let after: string | null = ""; after !== null; ) {
      const { body } = await send(`GET /v1/block-list?limit=10&after=${encodeURIComponent(after)}`)
      expect(body["total"]).toBe(27)
      seen.push(...(body["entries"] as { readonly entry: string }[]).map(({ entry }) => entry))
      after = body["next"] as string | null
    }
    expect(seen).toHaveLength(27)
    expect(seen).toEqual(seen.toSorted())
    const found = async (entry: string) =>
      (await send(`GET /v1/block-list?entry=${encodeURIComponent(entry)}`)).body["entries"]
    expect(await found("NAME1.example")).toMatchObject([{ entry: "name1.example", kind: "domain", note: null }])
    expect(await found(ADDRESS)).toMatchObject([{ kind: "address", domain: "acme.com", shown_as: "j…t@acme.com" }])
    expect(await found(seen.at(-1) ?? "")).toMatchObject([{ kind: "address" }])
    expect(await found("name1")).toBeUndefined()
    expect(await found("acme.com")).toEqual([])
    for (const query of [
      "limit=0",
      "limit=1001",
      "limit=x",
      "entry=com",
      "entry=a.com&entry=b.com",
      "after=x",
      "entry=%FF",
    ])
      expect([query, (await send(`GET /v1/block-list?${query}`)).status]).toEqual([query, 400])
  })

  test("of another account are neither seen nor touched, and the lists do not touch each other", async () => {
    const { send, add, listed, otherKey } = await lists()
    const key = await otherKey()
    await add(["acme.com", ADDRESS])
    expect(await listed("block-list", key)).toEqual([])
    expect(statusesOf(await send("DELETE /v1/block-list", { entries: ["acme.com", ADDRESS] }, { key }))).toEqual([
      ...["absent", "absent"],
    ])
    expect(statusesOf(await send("DELETE /v1/allow-list", { entries: ["acme.com"] }))).toEqual(["absent"])
    expect(statusesOf(await add(["acme.com"], { key }))).toEqual(["added"])
    await send("DELETE /v1/block-list", { entries: ["acme.com"] }, { key })
    expect(await listed()).toHaveLength(2)
  })

  test("cost no units, and each change is in the audit trail with the key that made it", async () => {
    const { send, add, store, keyId } = await lists({ tier: 0 })
    await add(["acme.com", "b.com"])
    await add(["acme.com"])
    await send("DELETE /v1/block-list?entry=b.com")
    expect((await send("GET /v1/usage")).body["today"]).toMatchObject({ used: 0 })
    expect(
      await store.all("SELECT act, details, source, key_id FROM admin_acts WHERE source = 'api' ORDER BY id"),
    ).toEqual(
      expect.arrayContaining([
        { act: "entries_added", details: "2 on the block list", source: "api", key_id: keyId },
        { act: "entries_removed", details: "1 on the block list", source: "api", key_id: keyId },
      ]),
    )
  })

  test("are at most 10 000 on both lists: a request that would exceed that adds nothing", async () => {
    const { send, add, listed } = await lists()
    const each = LIMITS.ownListRequestEntriesMax
    for (let at = 0; at < LIMITS.ownListEntriesMax; at += each)
      expect(await add(names(at, each))).toMatchObject({ status: 200, body: { added: each } })
    expect(await send("POST /v1/allow-list", { entries: ["acme.com"] })).toMatchObject({
      ...{ status: 409, body: { code: "own_lists_full", limit: LIMITS.ownListEntriesMax } },
    })
    expect(await add(["acme.com", "name1.example"])).toMatchObject({ status: 409 })
    expect(await add(["name1.example"])).toMatchObject({ body: { present: 1 } })
    const seen = new Set<string>()
    for (let after: unknown = ""; after !== null; ) {
      const { body } = await send(`GET /v1/block-list?limit=1000&after=${after}`)
      for (const { entry } of body["entries"] as { readonly entry: string }[]) seen.add(entry)
      after = body["next"]
    }
    expect(seen.size).toBe(LIMITS.ownListEntriesMax)
    for (let at = 0; at < LIMITS.ownListEntriesMax; at += each)
      expect(await send("DELETE /v1/block-list", { entries: names(at, each) })).toMatchObject({
        body: { removed: each },
      })
    expect(await listed()).toEqual([])
  })

  test("added and removed at the same time by many end on the list or not, and no answer lies about that", async () => {
    const { send, add, listed } = await lists()
    const works = Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? add(names(0, 50)) : send("DELETE /v1/block-list", { entries: names(0, 50) }),
    )
    const answers = await Promise.all(works)
    const count = (status: string) => answers.flatMap(statusesOf).filter(each => each === status).length
    expect(count("added") - count("removed")).toBe((await listed()).length)
    for (const answer of answers) expect(new Set(statusesOf(answer)).size).toBe(1)
  })

  test("in long requests are taken a hundred times at once and then one a second, without a limit for short ones", async () => {
    const { add, ask, time } = await lists()
    const long = names(0, 100)
    for (let count = 0; count < LIMITS.ownListLongRequestsBurst; count++)
      expect(await add(long)).toMatchObject({ status: 200 })
    expect(await add(long)).toMatchObject({ status: 429, body: { code: "rate_limited", retry_after: 1 } })
    // As over a socket, where a body has its length.
    const headers = { ...JSON_TYPE, "Content-Length": "26" }
    expect(await ask("POST /v1/block-list", { headers, body: '{"entries":["acme.com"]}  ' })).toMatchObject({
      status: 200,
    })
    await time.tick(1000)
    expect(await add(long)).toMatchObject({ status: 200 })
  })
})

test("changes of one account wait for each other, and while too many wait the next one is refused", async () => {
  const { add, ask, accountId, otherKey } = await lists()
  const key = await otherKey()
  const { promise: whenOver, resolve: end } = Promise.withResolvers<void>()
  const works = Array.from({ length: LIMITS.accountChangesWaitingMax + 1 }, () => inTurn(accountId, () => whenOver))
  const refused = {
    status: 429,
    body: { code: "rate_limited", limit: LIMITS.accountChangesWaitingMax, retry_after: 1 },
  }
  expect(await add(["acme.com"])).toMatchObject(refused)
  expect(await ask("PUT /v1/rules", { body: { rules: {} } })).toMatchObject(refused)
  expect(await add(["acme.com"], { key })).toMatchObject({ status: 200 })
  end()
  await Promise.all(works)
  expect(await add(["acme.com"])).toMatchObject({ status: 200, body: { added: 1 } })
})

describe("hostile entries", () => {
  const deep = `${'{"entries":['.repeat(60_000)}${"]}".repeat(60_000)}`
  test.each([
    ["1 001 entries", { entries: names(0, 1001) }, 413],
    ["1 001 entries of no type", { entries: Array(1001).fill(null) }, 413],
    ["none", { entries: [] }, 400],
    ["no array", { entries: "acme.com" }, 400],
    ["no object", ["acme.com"], 400],
    ["null", null, 400],
    ["numbers", { entries: ["acme.com", 1] }, 400],
    ["arrays", { entries: [["acme.com"]] }, 400],
    ["objects without an entry", { entries: [{ note: "x" }] }, 400],
    ["notes that are no texts", { entries: [{ entry: "acme.com", note: { a: 1 } }] }, 400],
    ["names of every object", { entries: [{ ["__proto__"]: { entry: "acme.com" } }] }, 400],
  ] as const)("%s: the request is refused and nothing is added", async (_, body, status) => {
    const { send, listed } = await lists()
    expect((await send("POST /v1/block-list", body)).status).toBe(status)
    expect((await send("DELETE /v1/block-list", body)).status).toBe(status)
    expect(await listed()).toEqual([])
  })

  test("nested deeply are refused", async () => {
    const { ask } = await lists()
    expect(await ask("POST /v1/block-list", { headers: JSON_TYPE, body: deep })).toMatchObject({ status: 400 })
  })

  test("that are texts are told one by one, with a note of 64 KB, control characters and half of a character", async () => {
    const { add, send, listed } = await lists()
    const answer = await add([
      { entry: "a.com", note: "x".repeat(65_536) },
      { entry: "b.com", note: "é".repeat(LIMITS.ownListNoteLengthMax) },
      { entry: "c.com", note: "one\u0000two\u202e\ud800" },
      ...[
        "",
        " ",
        "*@acme.com",
        "a@b@c",
        `${"x".repeat(2000)}.com`,
        "\ud800@acme.com",
        "sha256:00@acme.com",
        "a.com\u0000",
      ],
    ])
    expect(statusesOf(answer)).toEqual(["invalid", "added", "added", ...Array(8).fill("invalid")])
    expect((answer.body["results"] as { readonly reason: string }[]).map(({ reason }) => reason)).toEqual([
      ...["note_too_long", null, null, ...Array(8).fill("not_an_entry")],
    ] as string[])
    expect(await listed()).toEqual(["b.com", "c.com"])
    expect((await send("GET /v1/block-list?entry=c.com")).body["entries"]).toMatchObject([{ note: "onetwo" }])
  })
})

test("nothing of a request leaves an address in the database, the log or the metrics", async () => {
  const { add, send, store, logged, metrics } = await lists({ requestLog: "on", logsEveryResponse: true })
  const note = "asked for by john.hidden@acme.com"
  for (const again of ["first", ADDRESS])
    await add([{ entry: ADDRESS, note }, "jane.secret @acme.com", ADDRESS], { again })
  await send(`GET /v1/block-list?entry=${ADDRESS}`)
  await send("POST /v1/allow-list", { entries: [ADDRESS, 1] })
  await send(`DELETE /v1/block-list?entry=${ADDRESS}`)
  await add([ADDRESS], { again: "first" })
  const tables = await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  const rows = await Promise.all(tables.map(({ name }) => store.all(`SELECT * FROM "${name}"`)))
  const kept = [JSON.stringify(rows), JSON.stringify(logged), await metrics()]
  for (const text of kept) expect(text).not.toMatch(/jane\.secret|john\.hidden/)
})

/** A server that has cached its lists, and changes of them that another node makes. */
async function cachedLists() {
  const all = await lists()
  const elsewhere = { ...all.changes, notify: () => undefined }
  const owner = { accountId: all.accountId }
  const isBlocked = async () =>
    (await all.send("POST /v1/check", { domain: "acme.com" })).body["recommendation"] === "block"
  expect(await isBlocked()).toBe(false)
  return { ...all, elsewhere, owner, isBlocked }
}

describe("what another node has done counts in this one from the answer on that tells of it", () => {
  test("entries that are on the list, and off it", async () => {
    const { send, add, elsewhere, owner, isBlocked } = await cachedLists()
    await addEntries(elsewhere, owner, "block", [entry("acme.com")])
    expect(statusesOf(await add(["acme.com"]))).toEqual(["present"])
    expect(await isBlocked()).toBe(true)
    await removeEntries(elsewhere, owner, "block", [entry("acme.com")])
    expect(statusesOf(await send("DELETE /v1/block-list?entry=acme.com"))).toEqual(["absent"])
    expect(await isBlocked()).toBe(false)
  })

  test("a request that is sent again", async () => {
    const { add, store, isBlocked, changes, elsewhere, owner } = await cachedLists()
    await add(["acme.com"], { again: "k" })
    await removeEntries(changes, owner, "block", [entry("acme.com")])
    expect(await isBlocked()).toBe(false)
    await addEntries(elsewhere, owner, "block", [entry("acme.com")])
    expect((await add(["acme.com"], { again: "k" })).headers.get("idempotent-replayed")).toBe("true")
    expect(await isBlocked()).toBe(true)
    expect(await store.all("SELECT entry FROM own_list_entries")).toHaveLength(1)
  })
})

describe("a request with an idempotency key", () => {
  test("gets its first answer again, whatever has happened since, and another one is refused", async () => {
    const { add, send, listed, store } = await lists()
    const first = await add(["acme.com", "b.com", "no entry"], { again: "k" })
    await send("DELETE /v1/block-list", { entries: ["acme.com"] })
    const second = await add(["acme.com", "b.com", "no entry"], { again: '"k"' })
    expect([first.headers.get("idempotent-replayed"), second.headers.get("idempotent-replayed")]).toEqual([
      null,
      "true",
    ])
    expect(second.body).toEqual(first.body)
    expect(await listed()).toEqual(["b.com"])
    for (const [line, body] of [
      ["POST /v1/block-list", { entries: ["c.com"] }],
      ["POST /v1/allow-list", { entries: ["acme.com", "b.com", "no entry"] }],
      ["POST /v1/feedback", { domain: "acme.com", expected_category: "business" }],
    ] as const)
      expect(await send(line, body, { again: "k" })).toMatchObject({
        status: 422,
        body: { code: "idempotency_mismatch" },
      })
    expect(await store.all("SELECT details FROM admin_acts WHERE act = 'entries_added'")).toHaveLength(1)
  })

  test("that checks is done and charged again, since a check changes nothing", async () => {
    const { send } = await lists({ tier: 0 })
    for (const line of ["POST /v1/check/batch", "POST /v1/check/batch"])
      expect(await send(line, { items: ["acme.com", "b.com"] }, { again: "k" })).toMatchObject({ status: 200 })
    expect((await send("GET /v1/usage")).body["today"]).toMatchObject({ used: 4 })
  })

  test("that was refused has used no key, and one of another account is another one", async () => {
    const { add, otherKey } = await lists()
    expect(await add([1], { again: "k" })).toMatchObject({ status: 400 })
    expect(await add(["acme.com"], { again: "k" })).toMatchObject({ body: { added: 1 } })
    expect(await add(["acme.com"], { again: "k", key: await otherKey() })).toMatchObject({ body: { added: 1 } })
  })

  test("is done once when it comes many times at once, and all get the same answer", async () => {
    const { add } = await lists()
    const answers = await Promise.all(Array.from({ length: 8 }, () => add(["acme.com"], { again: "k" })))
    expect(answers.map(({ status, body }) => [status, body["added"]])).toEqual(Array(8).fill([200, 1]))
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1)
  })

  test("that reports a wrong verdict costs one unit and makes one report", async () => {
    const { send, store } = await lists({ tier: 0 })
    const report = () =>
      send("POST /v1/feedback", { domain: "acme.com", expected_category: "business" }, { again: "k" })
    const answers = [...(await Promise.all([report(), report(), report()])), await report()]
    expect(answers.map(({ status, body }) => [status, body["status"], body["id"]])).toEqual(
      Array(4).fill([202, "received", answers[0]?.body["id"]]),
    )
    expect((await send("GET /v1/usage")).body["today"]).toMatchObject({ used: 1, feedback: 1 })
    expect(await store.all("SELECT id FROM feedback")).toHaveLength(1)
  })
})
