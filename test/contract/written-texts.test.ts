import { expect, test } from "bun:test"
import { changeOperatorNote, noteFingerprint, readOperatorNote } from "../../src/customers/accounts/operator-note.ts"
import { resumeAccount, suspendAccount } from "../../src/customers/accounts/suspension.ts"
import { replaceCallbackSecret } from "../../src/customers/jobs/callback-secrets.ts"
import { changeKey } from "../../src/customers/keys/key-changes.ts"
import { createKey, revokeKey } from "../../src/customers/keys/keys.ts"
import { parseStoredEntry } from "../../src/customers/own-lists/entries.ts"
import { normalizeNote } from "../../src/customers/own-lists/entry-labels.ts"
import { addEntries } from "../../src/customers/own-lists/own-lists.ts"
import { EMPTY_UPLOAD, parseUpload } from "../../src/http/site/dashboard/jobs/list-upload.ts"
import { printableInput } from "../../src/http/site/dashboard/keys/printable-input.ts"
import { random } from "../customers/temp-store.ts"
import { testApp } from "../support/app.ts"

/** A local part that nothing else holds. */
const LOCAL = "zaphod"

/** How an address can be written. */
const SPELLINGS = [
  "zaphod@example.com",
  "the list of zaphod@example.com, and others",
  "zaphod+news@bücher.example",
  '"zaphod b"@example.com',
  "zaphod (his own) @example.com",
  "zaphod＠例え。jp",
  "zaphod ＠ 例え。jp",
  "zaphod﹫example.com",
  "zaphod%40example.com",
  "zaphod%2540example.com",
  "zaphod&commat;example.com",
  "zaphod\\u0040example.com",
  "zaphod [at] example [dot] com",
  "zaphod@[192.0.2.1]",
  "mailto:zaphod@example.com",
  "https://zaphod:secret@example.com",
] as const

const { ask, store, changes, accountId, keyId, logged } = await testApp()
await replaceCallbackSecret({ ...changes, random }, accountId)

const CSV = { "Content-Type": "text/csv" }

/** Uploads a list; the job is deleted when what it has left was looked at. */
const upload = (query: Readonly<Record<string, string>>, body = "email,name\njane@stripe.com,Jane\n") =>
  ask(`POST /v1/jobs?${new URLSearchParams(query).toString().replaceAll("+", "%20")}`, { body, headers: CSV })

async function* noBytes(): AsyncGenerator<Uint8Array, undefined> {
  yield new Uint8Array()
}

/** What the form of the dashboard is read as. */
const typed = (column: string, fileName: string) =>
  parseUpload(
    {
      values: { ...EMPTY_UPLOAD, format: "csv", column },
      file: { fileName, mediaType: "text/csv", content: noBytes() },
    },
    false,
    false,
  )

/** Every text that a caller or an operator writes and that is stored or told, and what is told when it is written. */
const WRITTEN_TEXTS: Readonly<Record<string, (text: string) => unknown>> = {
  "the name of a new key": async text => {
    const origins = ["https://example.com"]
    const made = await createKey(changes, random, { accountId, kind: "publishable", name: text, origins })
    if (made.kind === "created") await revokeKey(changes, made.key.id, "owner")
    return made
  },
  "a new name of a key": text => changeKey(changes, keyId, { name: text }),
  "what a form repeats": printableInput,
  "the name of a list": text => upload({ name: text }),
  "the name of a file": text => upload({ name: Object(typed("", text)).name }),
  "the column of a list": text => upload({ column: text }),
  "the column of a list without a header": text => upload({ column: text, header: "false" }),
  "the column in a form": text => typed(text, "list.csv"),
  "the header of a list": text => upload({ column: "other" }, `a,"${text.replaceAll('"', '""')}"\nx,y\n`),
  "the path of a callback": text => upload({ callback: `https://example.com/hooks/${text}` }),
  "the query of a callback": text => upload({ callback: `https://example.com/hooks?for=${text}` }),
  "the comment of a report": text =>
    ask("POST /v1/feedback", { body: { domain: "example.com", expected_category: "business", comment: text } }),
  "the note of an entry of a request": text =>
    ask("POST /v1/block-list", { body: { entries: [{ entry: "noted.example", note: text }] } }),
  "the note of an entry": text =>
    addEntries(changes, { accountId }, "block", [{ ...parseStoredEntry("example.com"), note: normalizeNote(text) }]),
  "the reason of a suspension": async text => {
    await suspendAccount(changes, accountId, text)
    await dump()
    await resumeAccount(changes, accountId)
  },
  "the note of an operator": async text => {
    const seen = noteFingerprint(await readOperatorNote(store, accountId))
    return await changeOperatorNote(changes, accountId, { note: text, seen })
  },
}

/** Everything that the database holds, and what was logged. */
async function dump(): Promise<string> {
  const tables = await store.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  const rows = await Promise.all(tables.map(({ name }) => store.all(`SELECT * FROM "${name}"`)))
  return JSON.stringify([rows, logged], (_, value) => (typeof value === "bigint" ? String(value) : value))
}

test.each(Object.keys(WRITTEN_TEXTS))("%s is neither stored, logged nor told with an address", async name => {
  for (const text of SPELLINGS) {
    const told = await WRITTEN_TEXTS[name]?.(text)
    const { status, body } = Object(told)
    expect([text, JSON.stringify([status, body ?? told]).includes(LOCAL)]).toEqual([text, false])
    expect([text, (await dump()).includes(LOCAL)]).toEqual([text, false])
    if (status === 202) await ask(`DELETE /v1/jobs/${body.id}`)
  }
})

/** What is told of a list that is uploaded so, and deleted then. */
async function uploaded(query: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const { body } = await upload(query)
  await ask(`DELETE /v1/jobs/${body["id"]}`)
  return body
}

test("texts without addresses are stored as they are written", async () => {
  const name = "Customers @ work, 2nd half (final)"
  expect(await uploaded({ name, callback: "https://example.com/@team/hooks?a=b%20c" })).toMatchObject({
    name,
    callback: "https://example.com/@team/hooks?a=b%20c",
  })
  await changeOperatorNote(changes, accountId, {
    note: "two\n  lines",
    seen: noteFingerprint(await readOperatorNote(store, accountId)),
  })
  expect(await readOperatorNote(store, accountId)).toBe("two\n  lines")
})

test("the URL of callbacks is stored and told as it is asked for", async () => {
  for (const [typed, stored] of [
    ["HTTPS://Bücher.Example.:443/a/../b?c=d#e", "https://xn--bcher-kva.example/b?c=d"],
    ["https://example.com", "https://example.com/"],
    ["https:\\\\example.com\\hook", "https://example.com/hook"],
    ["https://example.com:80/hook", "https://example.com:80/hook"],
  ] as const)
    expect(await uploaded({ callback: typed })).toMatchObject({ callback: stored })
})
