import { describe, expect, test } from "bun:test"
import { LIMITS } from "../../../../src/contract/limits.ts"
import { removeAccount } from "../../../../src/customers/accounts/accounts.ts"
import {
  addEntries,
  countEntries,
  listEntries,
  OPERATOR,
  type OwnList,
} from "../../../../src/customers/own-lists/own-lists.ts"
import { anotherAccount } from "../../../contract/another-account.ts"
import { entry } from "../../../contract/own-list-entry.ts"
import { testApp } from "../../../support/app.ts"
import { repeatedIds, signedInBrowser } from "../../../support/html-browser.ts"

const PATH = "/dashboard/lists"
const ENTRIES = "/dashboard/list-entries"
const IMPORT = "/dashboard/list-entries/import"

async function opened() {
  const harness = await testApp()
  const browser = await signedInBrowser(harness)
  const paste = (entries: string, action = "add", list = "block") =>
    browser.postParts(ENTRIES, { list, list_action: action, entries })
  const bring = (text: string | Uint8Array<ArrayBuffer>, name = "x.txt", list = "block") =>
    browser.postParts(IMPORT, { list, file: new File([text], name) })
  const counts = () => countEntries(harness.store, { accountId: harness.accountId })
  const file = async (list: OwnList) => (await browser.get(`${PATH}/${list}.txt`)).html
  return { ...harness, ...browser, paste, bring, counts, file }
}

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `n${from + at}.example`).join("\n")

describe("pasting", () => {
  test("what is pasted is on the list at once, is told by its number, and changes the next check", async () => {
    const { paste, get, ask } = await opened()
    expect((await ask("POST /v1/check", { body: { email: "jane@stripe.com" } })).body["is_blocked"]).toBe(false)
    const { status, redirectPath } = await paste("\uFEFFstripe.com, acme.example\r\n\r\n# none\r\nJane@Gmail.com")
    expect([status, redirectPath]).toEqual([303, "/dashboard/lists?list=block&done=added&changed=3&left=0"])
    const { html } = await get(redirectPath ?? "")
    expect(html).toContain("3 entries added.")
    expect(html).toContain("<bdi>stripe.com</bdi>")
    expect(html).not.toContain("jane@gmail.com")
    expect(html).toContain("@gmail.com</bdi>")
    expect((await ask("POST /v1/check", { body: { email: "jane@stripe.com" } })).body["recommendation"]).toBe("block")
    expect((await ask("POST /v1/check", { body: { email: "jane+x@gmail.com" } })).body["is_blocked"]).toBe(true)
    expect((await get((await paste("acme.example\nnew.example")).redirectPath ?? "")).html).toContain(
      "1 entry added. 1 entry was on the list already.",
    )
  })

  test("one line that cannot be read keeps all from being done, and all that was pasted is there to be mended", async () => {
    const { paste, counts } = await opened()
    const text = `\r\nacme.example\r\n<script>alert("1")</script>\r\n${"bad\r\n".repeat(20)}`
    const { status, html } = await paste(text)
    expect(status).toBe(400)
    expect(html).toContain("Nothing was changed.")
    expect(html).toContain('Line 3: <code class="any">&lt;script>alert(&quot;1&quot;)&lt;/script></code>')
    expect(html.match(/<li>Line /g)).toHaveLength(10)
    expect(html).toContain("<li>and 11 more</li>")
    expect(html).not.toContain("<script>")
    // The first line feed after the tag is the parser's (HTML §13.1.2.5); the text begins after it.
    expect(html).toMatch(/<textarea[^>]*>\n\r\nacme\.example\r\n&lt;script>/)
    expect(await counts()).toEqual({ block: 0, allow: 0 })
  })

  test("pasted entries are removed, on the list that is named alone", async () => {
    const { paste, counts, get } = await opened()
    await paste("a.example\nb.example\njane@a.example")
    await paste("a.example", "add", "allow")
    const { redirectPath } = await paste("A.EXAMPLE; JANE@a.example; c.example", "remove")
    expect((await get(redirectPath ?? "")).html).toContain("2 entries removed. 1 entry was not on the list.")
    expect(await counts()).toEqual({ block: 1, allow: 1 })
  })

  test.each([
    [{ list: "", list_action: "add" }],
    [{ list: "both", list_action: "add" }],
    [{ list: "block", list_action: "" }],
    [{ list: "block", list_action: "drop" }],
    [{ list_action: "add" }],
  ])("%j says neither what to do nor where, so nothing is done", async fields => {
    const { post, counts } = await opened()
    expect((await post(ENTRIES, { entries: "a.example", ...fields })).status).toBe(400)
    expect(await counts()).toEqual({ block: 0, allow: 0 })
  })

  test.each(["", "   \r\n", "# a comment", ",;,"])("%j holds nothing to add, and says so", async text => {
    const { paste } = await opened()
    const { status, html } = await paste(text)
    expect([status, html.includes("You sent no entries")]).toEqual([400, true])
  })
})

describe("notes", () => {
  const NOTE = '=1+1 <b>"spam"</b>'

  test("stand beside entries and masked addresses, and no part of the page or the store has the address", async () => {
    const harness = await opened()
    const { redirectPath } = await harness.postParts(ENTRIES, {
      list: "block",
      list_action: "add",
      entries: "jane.doe@granite-a.com\ngranite-b.com",
      note: `${NOTE}, ask jane.doe@granite-a.com`,
    })
    const { html, text: words } = await harness.get(redirectPath ?? "")
    expect(html).toContain("<bdi>j…e@granite-a.com</bdi>")
    expect(words).toContain(`${NOTE}, ask …@granite-a.com`)
    expect(html).not.toContain("<b>")
    for (const table of ["own_list_entries", "own_list_labels"])
      expect(JSON.stringify(await harness.store.all(`SELECT * FROM ${table}`))).not.toContain("jane")
    expect((await harness.get(`${PATH}?search=SPAM`)).html).toContain("granite-b.com</bdi>")
    const kept = await harness.get("/dashboard/account/export")
    expect(JSON.parse(kept.html).list_labels).toHaveLength(2)
    await removeAccount(harness.changes, harness.accountId)
    expect(await harness.store.all("SELECT * FROM own_list_labels")).toEqual([])
  })

  test("are changed and deleted for the entries that are selected, of the own lists alone", async () => {
    const harness = await opened()
    await harness.paste("a.example\nb.example\nc.example")
    const other = await anotherAccount(harness.changes)
    await addEntries(harness.changes, other, "block", [{ ...entry("a.example"), note: "theirs" }])
    const send = (action: string, note: string, ...entries: string[]) =>
      harness.postText(
        ENTRIES,
        new URLSearchParams([
          ...Object.entries({
            from: "selection",
            list: "block",
            list_action: action,
            search: "",
            after: "",
            selected_note: note,
          }),
          ...entries.map(text => ["entries", text]),
        ]).toString(),
        "application/x-www-form-urlencoded",
      )
    const notes = async (owner: Parameters<typeof listEntries>[1] = { accountId: harness.accountId }) =>
      (await listEntries(harness.store, owner, "block", "", 10)).map(({ note }) => note)
    const { redirectPath } = await send("note", "new", "a.example", "c.example", "gone.example")
    expect((await harness.get(redirectPath ?? "")).html).toContain(
      "Note saved for 2 entries. 1 entry is not on the list",
    )
    expect(await notes()).toEqual(["new", null, "new"])
    await send("note", "", "a.example")
    expect([await notes(), await notes(other)]).toEqual([[null, null, "new"], ["theirs"]])
    const refused = await send("note", "x".repeat(LIMITS.ownListNoteLengthMax + 1), "c.example")
    expect([refused.status, await notes()]).toEqual([400, [null, null, "new"]])
    expect(refused.html).toContain(`value="${"x".repeat(LIMITS.ownListNoteLengthMax + 1)}"`)
    expect(refused.html).toMatch(/value="c\.example"[^>]* checked|checked[^>]* value="c\.example"/)
    expect(refused.html).toContain("Use at most 200 characters.")
    expect(repeatedIds(refused.html)).toEqual([])
    expect((await send("note", "x")).html).toContain("Select at least one entry")
    await send("remove", "", "a.example", "b.example")
    expect(await notes()).toEqual(["new"])
  })

  test("that are too long for what is pasted are refused beside the field, and all that was typed is kept", async () => {
    const harness = await opened()
    const note = "y".repeat(LIMITS.ownListNoteLengthMax + 1)
    const { status, html } = await harness.postParts(ENTRIES, {
      list: "block",
      list_action: "add",
      entries: "a.example",
      note,
    })
    expect([status, html.includes(`value="${note}"`), html.includes("a.example</textarea>")]).toEqual([400, true, true])
    expect(await harness.counts()).toEqual({ block: 0, allow: 0 })
  })

  test("are in the CSV file, which holds no formula, and come back with the entries when it is imported", async () => {
    const harness = await opened()
    const CSV = "/dashboard/list-entries/export.csv?list="
    await harness.postParts(ENTRIES, {
      list: "block",
      list_action: "add",
      entries: "jane@granite-a.com\n*.b.example",
      note: NOTE,
    })
    const { html: text, headers } = await harness.get(`${CSV}block`)
    expect(headers.get("content-disposition")).toBe('attachment; filename="mailkind-block.csv"')
    expect(text).not.toMatch(/(^|,)"?[=+@-]/m)
    const other = await anotherAccount(harness.changes)
    const browser = await signedInBrowser(harness, other.accountId)
    await browser.postParts(IMPORT, { list: "allow", file: new File([text], "mailkind-block.csv") })
    const both = async (owner: Parameters<typeof listEntries>[1], list: OwnList) =>
      (await listEntries(harness.store, owner, list, "", 10)).map(({ storedText, note, shownAs }) => [
        storedText,
        note,
        shownAs,
      ])
    expect(await both(other, "allow")).toEqual(await both({ accountId: harness.accountId }, "block"))
    expect((await both(other, "allow")).map(([, note]) => note)).toEqual([NOTE, NOTE])
    for (const name of ["", "all", "__proto__", "block.csv"])
      expect((await harness.get(`${CSV}${name}`)).status).toBe(404)
  })
})

describe("how much", () => {
  test("a list takes its last entry, not one more, and says so", async () => {
    const { paste, counts, bring } = await opened()
    expect((await paste(names(0, LIMITS.ownListEntriesMax + 1))).html).toContain(
      "Send at most 10,000 entries, in at most 100,000 lines, at once",
    )
    expect((await bring(names(0, LIMITS.ownListEntriesMax))).redirectPath).toContain("changed=10000&left=0")
    expect((await paste("one-more.example", "add", "allow")).html).toContain(
      "Your two lists together can have 10,000 entries",
    )
    expect((await paste("n1.example")).redirectPath).toContain("changed=0&left=1")
    await paste("n0.example", "remove")
    expect((await paste("one-more.example", "add", "allow")).status).toBe(303)
    expect(await counts()).toEqual({ block: LIMITS.ownListEntriesMax - 1, allow: 1 })
  })

  test("a body over its bound is refused, whichever kind of form it is", async () => {
    const { paste, bring, post, counts } = await opened()
    const huge = "#".repeat(LIMITS.ownListFormBytesMax + 1)
    for (const { status } of [await paste(huge), await bring(huge), await post(ENTRIES, { entries: huge })])
      expect(status).toBe(413)
    expect(await counts()).toEqual({ block: 0, allow: 0 })
  })
})

describe("importing", () => {
  test("of a table the first column counts; a text is read as what is pasted", async () => {
    const { bring, file } = await opened()
    await bring('\uFEFFDomain,Name\r\n"a.example","x, y"\r\nb.example,B\r\n', "x.CSV")
    await bring("c.example, d.example", "y.txt")
    expect((await file("block")).split("\n").slice(2)).toEqual(["a.example", "b.example", "c.example", "d.example", ""])
  })

  test("faults of a file are told by their lines", async () => {
    const { bring, counts } = await opened()
    const { status, html } = await bring("a.example\n\nnot one\n")
    expect(status).toBe(400)
    expect(html).toContain('Line 3: <code class="any">not one</code>')
    expect(await counts()).toEqual({ block: 0, allow: 0 })
  })

  test.each([
    ["UTF-16", Buffer.from("\uFEFFa.example", "utf16le")],
    ["an image", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff])],
  ])("%s is no text, and says so", async (_, bytes) => {
    const { bring } = await opened()
    const { status, html } = await bring(new Uint8Array(bytes))
    expect([status, html.includes("not text in UTF-8")]).toEqual([400, true])
  })

  test("no file, parts that do not end and a body that is no form change nothing", async () => {
    const { postParts, postText, counts } = await opened()
    expect((await postParts(IMPORT, { list: "block", file: new File([], "") })).status).toBe(400)
    expect((await postText(IMPORT, "--X\r\n", "multipart/form-data; boundary=X")).status).toBe(400)
    expect((await postText(IMPORT, "{}", "application/json")).status).toBe(400)
    expect(await counts()).toEqual({ block: 0, allow: 0 })
  })

  test("what was exported can be imported again, addresses too, by another account even", async () => {
    const harness = await opened()
    await harness.paste("jane@granite-a.com\ngranite-a.com\n*.b.example")
    const text = await harness.file("block")
    expect(text).not.toContain("jane")
    await harness.paste("jane@granite-a.com\ngranite-a.com\n*.b.example", "remove")
    expect((await harness.bring(text, "mailkind-block.txt", "allow")).redirectPath).toContain("changed=3")
    expect((await harness.file("allow")).split("\n").slice(2)).toEqual(text.split("\n").slice(2))
    expect(
      (await harness.ask("POST /v1/check", { body: { email: "jane@granite-a.com" } })).body["recommendation"],
    ).toBe("allow")
  })
})

describe("looking", () => {
  test("a long list comes page by page, each entry once", async () => {
    const { paste, get } = await opened()
    await paste(names(0, 250))
    const seen: string[] = []
    let path: string | undefined = PATH
    let pages = 0
    for (; path !== undefined; pages++) {
      const { html } = await get(path)
      expect(repeatedIds(html)).toEqual([])
      seen.push(...[...html.matchAll(/<th scope="row"[^>]*>.*?<bdi>([^<]*)</g)].map(([, name = ""]) => name))
      path = /href="([^"]*)">Next page/.exec(html)?.[1]?.replaceAll("&amp;", "&")
    }
    expect([pages, seen.length, new Set(seen).size]).toEqual([3, 250, 250])
  })

  test("entries are found by a part, a domain in any script, and an address", async () => {
    const { paste, get } = await opened()
    await paste("axb.example, bücher.example, jane@found.example")
    const found = async (search: string) => {
      const { html } = await get(`${PATH}?search=${encodeURIComponent(search)}`)
      return [...html.matchAll(/name="entries" value="([^"]*)"/g)].map(([, kept = ""]) => kept)
    }
    expect(await found("aXb")).toEqual(["axb.example"])
    expect(await found("a_b")).toEqual([])
    expect(await found("%")).toEqual([])
    expect(await found("\\")).toEqual([])
    expect(await found("Bücher.example")).toEqual(["xn--bcher-kva.example"])
    expect(await found(" Jane@found.example ")).toEqual([entry("jane@found.example").storedText])
    expect(await found("nobody@found.example")).toEqual([])
    expect(await found("x".repeat(5000))).toEqual([])
    expect(await found("")).toHaveLength(3)
  })

  test("what stands in the URL is shown as text", async () => {
    const { paste, get } = await opened()
    await paste("a.example")
    const evil = encodeURIComponent('"><script>alert(1)</script>')
    const { html, status } = await get(`${PATH}?search=${evil}&after=${evil}&list=${evil}&done=${evil}&changed=${evil}`)
    expect([status, html.includes("<script>")]).toEqual([200, false])
    expect((await get(`${PATH}?done=added&changed=-1e9&left=<b>`)).html).toContain("0 entries added.")
  })

  test.each(["block", "allow.csv", "all.txt", "..%2Fblock.txt", "block.txt.txt", "__proto__.txt"])(
    "there is no list %s",
    async name => {
      const { get } = await opened()
      expect((await get(`${PATH}/${name}`)).status).toBe(404)
    },
  )

  test("a list is downloaded as text that no browser takes for a page", async () => {
    const { get } = await opened()
    const { headers } = await get(`${PATH}/block.txt`)
    expect(headers.get("content-disposition")).toBe('attachment; filename="mailkind-block.txt"')
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8")
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("cache-control")).toBe("no-store")
  })
})

describe("whose", () => {
  test("nobody sees, changes or removes what another account, or the operator, has on a list", async () => {
    const harness = await opened()
    const other = await anotherAccount(harness.changes)
    for (const owner of [other, OPERATOR] as const)
      await addEntries(harness.changes, owner, "block", [entry("theirs.example")])
    expect((await harness.get(PATH)).html).not.toContain("theirs.example")
    expect(await harness.file("block")).not.toContain("theirs.example")
    expect((await harness.paste("theirs.example", "remove")).redirectPath).toContain("changed=0&left=1")
    await harness.postParts(ENTRIES, {
      list: "block",
      list_action: "remove",
      entries: "theirs.example",
      owner: other.accountId,
      account: other.accountId,
    })
    expect(await countEntries(harness.store, other)).toMatchObject({ block: 1 })
    expect(await countEntries(harness.store, OPERATOR)).toMatchObject({ block: 1 })
  })

  test("a second click, and a second tab, do no harm", async () => {
    const harness = await opened()
    const tab = await signedInBrowser(harness)
    const fields = { list: "block", list_action: "remove", entries: "a.example", search: "a", after: "" }
    await harness.paste("a.example")
    expect((await harness.post(ENTRIES, fields)).redirectPath).toBe(
      "/dashboard/lists?list=block&search=a&done=removed&changed=1&left=0",
    )
    const { redirectPath } = await tab.post(ENTRIES, fields)
    expect((await tab.get(redirectPath ?? "")).html).toContain("0 entries removed. 1 entry was not on the list.")
  })

  test.each([PATH, `${PATH}/block.txt`])("%s sends who is not signed in to do so first", async path => {
    const { app } = await opened()
    const { status, headers } = await app(new Request(`http://localhost${path}`))
    expect([status, headers.get("location")]).toEqual([303, `/sign-in?next=${encodeURIComponent(path)}`])
  })

  test.each([ENTRIES, IMPORT])(
    "%s takes no form of another origin, and none of an account that is gone",
    async path => {
      const { post, changes, accountId, counts } = await opened()
      const fields = { list: "block", list_action: "add", entries: "a.example" }
      expect((await post(path, fields, { Origin: "https://evil.example" })).status).toBe(403)
      expect(await counts()).toEqual({ block: 0, allow: 0 })
      await removeAccount(changes, accountId)
      expect((await post(path, fields)).redirectPath).toStartWith("/sign-in?next=")
      expect(await counts()).toEqual({ block: 0, allow: 0 })
    },
  )
})

test("what the page says of lists is what checks do", async () => {
  const harness = await opened()
  const facts = async (email: string) =>
    (await harness.ask("POST /v1/check", { body: { email } })).body["recommendation"]
  await harness.paste("both.granite-list.com\n*.below.granite-list.com")
  await harness.paste("both.granite-list.com\nmailinator.com\noperator.granite-list.com", "add", "allow")
  await addEntries(harness.changes, OPERATOR, "block", [entry("operator.granite-list.com")])
  expect(await facts("a@both.granite-list.com")).toBe("allow")
  expect(await facts("a@mailinator.com")).toBe("allow")
  expect(await facts("a@operator.granite-list.com")).toBe("block")
  expect(await facts("a@x.below.granite-list.com")).toBe("block")
  expect(
    (await harness.ask("POST /v1/check", { body: { email: "a@below.granite-list.com" } })).body["is_blocked"],
  ).toBe(false)
  expect(await facts("a..b@both.granite-list.com")).toBe("block")
  await harness.paste("nobody.example", "add", "allow")
  expect(await facts("a@nobody.example")).toBe("block")
})

test("an account has a burst of long changes, then one in ten seconds; short changes and other accounts do not wait", async () => {
  const harness = await opened()
  const { paste, bring, counts, time } = harness
  const long = (name: string) => `${name}\n${"# a comment\n".repeat(LIMITS.ownListShortTextMax / 10)}`
  for (let index = 0; index < LIMITS.ownListImportsBurst - 1; index++) await paste(long(`n${index}.example`))
  expect((await bring(long("imported.example"))).status).toBe(303)
  for (const refused of [await paste(long("late.example")), await bring(long("late.example"))]) {
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"])
  }
  expect((await paste(long("late.example"))).html).toContain("late.example")
  expect(await counts()).toMatchObject({ block: LIMITS.ownListImportsBurst })
  expect((await paste("short.example")).status).toBe(303)
  const { accountId } = await anotherAccount(harness.changes)
  const other = await signedInBrowser(harness, accountId)
  const { status } = await other.postParts(ENTRIES, {
    list: "block",
    list_action: "add",
    entries: long("other.example"),
  })
  expect(status).toBe(303)
  await time.tick(1000 / LIMITS.ownListImportsPerSecond)
  expect((await paste(long("late.example"))).status).toBe(303)
})
