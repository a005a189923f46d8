import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { zipSync } from "fflate"
import { rowsOf, workbook } from "../rows/workbook.ts"
import { testApp } from "../support/app.ts"

const CSV = "Name;E-mail\nJane;jane@gmail.com\nJoe;x@mailinator.com\n"
const XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
const PEOPLE = rowsOf([
  ["Name", "E-mail"],
  ["Jane", "jane@gmail.com"],
  ["Joe", "x@mailinator.com"],
])
const BOOK = workbook({ Notes: rowsOf([["see the other sheet"]]), People: PEOPLE })

type Sent = {
  readonly body: string | Uint8Array<ArrayBuffer> | FormData
  readonly type?: string | null
  readonly query?: string
  /** Its idempotency key. */
  readonly again?: string
}

/** A server, and what is left in it after a list was sent. */
async function uploads() {
  const app = await testApp({ tier: 1 })
  const send = async ({ body, type = null, query = "", again }: Sent): Promise<Record<string, unknown>> => {
    const request = new Request(`http://localhost/v1/jobs${query}`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${app.key}`,
        ...(type === null ? {} : { "Content-Type": type }),
        ...(again === undefined ? {} : { "Idempotency-Key": again }),
      },
      body,
    })
    // A body of bytes has no type, as that of a client that names none.
    if (type === null && !(body instanceof FormData)) request.headers.delete("Content-Type")
    const response = await app.app(request)
    return { status: response.status, ...((await response.json()) as Record<string, unknown>) }
  }
  const left = async () => ({
    jobs: await app.store.all("SELECT id FROM jobs"),
    files: readdirSync(app.jobsFolder).filter(name => !name.startsWith("installation.")),
    used: ((await app.ask("GET /v1/usage")).body["today"] as { readonly used: number }).used,
  })
  const look = async (): Promise<void> => await app.jobs.look()
  return { send, left, look }
}

/** A form with these parts in their order: a text, or the name and the content of a file. */
function form(...parts: readonly (readonly [name: string, value: string | File])[]): FormData {
  const made = new FormData()
  for (const [name, value] of parts) made.append(name, value)
  return made
}

const file = (name: string, content: string | Uint8Array<ArrayBuffer>, type = "application/octet-stream") =>
  new File([content], name, { type })

describe("a list is read as it is sent", () => {
  const table = { status: 202, format: "csv", rows: { total: 2 }, reading: { delimiter: ";", column_number: 2 } }
  const objects = '[{"email":"jane@gmail.com","n":1},\n {"email":"x@mailinator.com"}]'
  test.each([
    [
      "with the type of a form that it is not, as curl does",
      { body: CSV, type: "application/x-www-form-urlencoded" },
      table,
    ],
    ["without a type", { body: CSV }, table],
    ["as bytes", { body: CSV, type: "application/octet-stream" }, table],
    ["as the file of a form", { body: form(["file", file("list.csv", CSV)]) }, table],
    ["as the text of a form", { body: form(["file", CSV]) }, table],
    [
      "as a form with options",
      { body: form(["name", "May"], ["column", "2"], ["list", file("list.csv", CSV)]) },
      { ...table, name: "May", column: "2" },
    ],
    [
      "as a form with options in the query",
      { body: form(["file", file("list.csv", CSV)]), query: "?column=2&name=June" },
      { ...table, name: "June" },
    ],
    [
      "as a file whose name says what its type does not",
      { body: form(["file", file("list.tsv", "a;b\tjane@gmail.com\n", "text/plain")]) },
      { format: "csv", reading: { delimiter: "\t" } },
    ],
    ["compressed in a form", { body: form(["file", file("list.csv.gz", Bun.gzipSync(CSV))]) }, table],
    [
      "in an archive",
      { body: new Uint8Array(zipSync({ "list.csv": Buffer.from(CSV) })), type: "application/zip" },
      table,
    ],
    [
      "as an array of texts",
      { body: '["jane@gmail.com","x@mailinator.com"]', type: "application/json" },
      { format: "ndjson", rows: { total: 2 } },
    ],
    ["as an array of objects", { body: objects }, { format: "ndjson", rows: { total: 2 } }],
    [
      "as a sheet",
      { body: BOOK, type: XLSX_TYPE, query: "?sheet=People" },
      { format: "csv", rows: { total: 2 }, reading: { delimiter: ",", header_line: 1, column_number: 2 } },
    ],
    [
      "as a sheet of a form",
      { body: form(["sheet", "2"], ["file", file("book.xlsx", BOOK)]) },
      { format: "csv", rows: { total: 2 } },
    ],
  ] satisfies [string, Sent, Record<string, unknown>][])("%s", async (_, sent, answer) => {
    const { send } = await uploads()
    expect(await send(sent)).toMatchObject(answer)
  })
})

describe("a list is refused, costs nothing and leaves nothing when it", () => {
  const boundary = "multipart/form-data; boundary=a"
  const inner = `--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n${CSV}\r\n--b--\r\n`
  const nested = `--a\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${inner}\r\n--a--\r\n`
  const bomb = workbook({ a: '<row><c r="XFD1"><v>1</v></c></row>'.repeat(4000) })
  test.each([
    [
      "is a picture",
      { body: CSV, type: "image/png" },
      415,
      /curl --data-binary @list\.csv -H 'Content-Type: text\/csv'/,
    ],
    [
      "is a picture in a form",
      { body: form(["file", file("a.png", CSV, "image/png")]) },
      415,
      /curl -F file=@list\.csv/,
    ],
    ["is a form in a form", { body: nested, type: boundary }, 415, /curl/],
    ["is a form without its type", { body: inner, type: "text/plain" }, 400, /body of a form/],
    [
      "has an option behind its file",
      { body: form(["file", file("a.csv", CSV)], ["column", "2"]) },
      400,
      /Put the file last/,
    ],
    [
      "is two files",
      { body: form(["file", file("a.csv", CSV)], ["file", file("b.csv", CSV)]) },
      400,
      /more than one file/,
    ],
    ["is a form without a file", { body: form(["name", "May"]) }, 400, /has no file/],
    [
      "is a form that ends early",
      { body: `--a\r\nContent-Disposition: form-data; name="file"\r\n\r\n${CSV}`, type: boundary },
      400,
      /ended before it was complete/,
    ],
    [
      "has an option twice",
      { body: form(["column", "2"], ["file", file("a.csv", CSV)]), query: "?column=2" },
      400,
      /more than once/,
    ],
    [
      "has a long field",
      { body: form(["name", "x".repeat(5000)], ["file", file("a.csv", CSV)]) },
      400,
      /longer than 4096 bytes/,
    ],
    [
      "is a JSON object",
      { body: '{"contacts":["a@b.co"]}', type: "application/json" },
      400,
      /one JSON object, not a list/,
    ],
    [
      "is an array that is cut off",
      { body: '["a@b.co","c@d.co"', type: "application/json" },
      400,
      /middle of its JSON array/,
    ],
    [
      "is an array of one row of a megabyte",
      { body: `["${"x".repeat(1_048_576)}"]`, type: "application/json" },
      400,
      /more than 65536 bytes/,
    ],
    [
      "is an archive of a thousand files",
      {
        body: new Uint8Array(
          zipSync(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${at}`, Buffer.from("a")]))),
        ),
      },
      400,
      /1000 files/,
    ],
    [
      "unpacks to more than a list may have",
      { body: new Uint8Array(zipSync({ a: Buffer.alloc(105_000_000, "a@b.co\n") })) },
      413,
      /larger than 104857600 bytes/,
    ],
    [
      "is a sheet of too many empty cells",
      { body: bomb, query: "?force=1&column=1" },
      400,
      /16384 columns. The limit is 1000/,
    ],
    ["has no sheet of the name", { body: BOOK, query: "?sheet=Nobody" }, 400, /1 `Notes`, 2 `People`/],
  ] satisfies [string, Sent, number, RegExp][])("%s", async (_, sent, status, detail) => {
    const { send, left } = await uploads()
    const answer = await send(sent)
    expect([answer["status"], JSON.stringify(answer)]).toEqual([status, expect.stringMatching(detail)])
    expect(await left()).toEqual({ jobs: [], files: [], used: 0 })
  })
})

describe("a list with an idempotency key", () => {
  test("gives the same job again however it is sent, and no other list or options", async () => {
    const { send, left, look } = await uploads()
    const sent = { body: CSV, again: "list of May" }
    const first = await send(sent)
    expect(first).toMatchObject({ status: 202, rows: { total: 2 } })
    await look()
    expect(await send({ body: form(["file", file("list", CSV)]), again: sent.again })).toMatchObject({
      ...{ status: 202, id: first["id"], rows: { total: 2 } },
    })
    for (const other of [
      { body: `${CSV}Jim;jim@gmail.com\n` },
      { body: CSV.slice(0, -1) },
      { body: CSV, query: "?policy=strict" },
    ])
      expect(await send({ ...sent, ...other })).toMatchObject({ status: 422, code: "idempotency_mismatch" })
    expect((await left()).jobs).toEqual([{ id: first["id"] }])
    expect(await send({ ...sent, again: "list of June" })).toMatchObject({ status: 202 })
    expect((await left()).jobs).toHaveLength(2)
  })

  test("may be sent again with its key after it was refused, and is never received twice at once", async () => {
    const { send, left } = await uploads()
    expect(await send({ body: "id,name\n1,Jane\n", again: "a" })).toMatchObject({ status: 400 })
    const answers = await Promise.all([send({ body: CSV, again: "a" }), send({ body: CSV, again: "a" })])
    expect(answers.map(each => each["status"]).toSorted()).toEqual([202, 409])
    expect((await left()).jobs).toHaveLength(1)
  })

  test("whose key is empty or too long is refused", async () => {
    const { send } = await uploads()
    expect(await send({ body: CSV, again: "k".repeat(255) })).toMatchObject({ status: 202 })
    for (const again of ["", "k".repeat(256)])
      expect(await send({ body: CSV, again })).toMatchObject({ status: 400, code: "invalid_input" })
  })
})
