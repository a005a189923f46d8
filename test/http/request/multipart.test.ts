import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { formBoundary, formParts } from "../../../src/http/request/multipart.ts"
import { Problem } from "../../../src/http/response/problem.ts"

/** A form as browsers write it, and its boundary. */
async function written(fields: Readonly<Record<string, string | File>>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const request = new Request("http://localhost", { method: "POST", body: form })
  const boundary = formBoundary(request.headers.get("content-type")) ?? "none"
  return { bytes: await request.bytes(), boundary }
}

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** The name, file name and content of each part. */
async function read(chunks: AsyncIterable<Uint8Array>, boundary: string) {
  const found: [string, string | null, string][] = []
  for await (const { name, fileName, content } of formParts(chunks, boundary))
    found.push([name, fileName, Buffer.concat(await Array.fromAsync(content)).toString("latin1")])
  return found
}

/** The code of the problem that it ends with; null: it ends well. */
const problemOf = (reading: Promise<unknown>): Promise<string | null> =>
  reading.then(
    () => null,
    error => (error instanceof Problem ? error.code : String(error)),
  )

describe("a form that arrives", () => {
  test("has the same parts however it is cut", async () => {
    const data = 'one\r\n--\r\n"two"\r\n-'
    const { bytes, boundary } = await written({ name: "Jané", file: new File([data], 'a "b".csv'), after: "" })
    const expected = [
      ["name", null, Buffer.from("Jané").toString("latin1")],
      ["file", 'a "b".csv', data],
      ["after", null, ""],
    ]
    for (let size = 1; size <= bytes.length; size++)
      expect(await read(cut(bytes, size), boundary)).toEqual(expected as never)
  })

  test("has any bytes in a file as they were sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 50 }), async (content, size) => {
        const { bytes, boundary } = await written({ file: new File([content as Uint8Array<ArrayBuffer>], "a") })
        expect(await read(cut(bytes, size), boundary)).toEqual([["file", "a", Buffer.from(content).toString("latin1")]])
      }),
      { numRuns: 200 },
    )
  })

  test("is refused when it is cut off anywhere, and skips parts that nobody reads", async () => {
    const { bytes, boundary } = await written({ name: "x", file: new File(["y".repeat(50)], "a.csv") })
    for (let length = 0; length < bytes.length - 4; length++)
      expect(await problemOf(read(cut(bytes.subarray(0, length), 16), boundary))).toBe("invalid_input")
    const names: string[] = []
    for await (const { name } of formParts(cut(bytes, 7), boundary)) names.push(name)
    expect(names).toEqual(["name", "file"])
  })

  test("has no parameter from within a quoted one", async () => {
    const text = '--b\r\nContent-Disposition: form-data; filename="a; name=b.csv"; name="file"\r\n\r\nx\r\n--b--\r\n'
    expect(await read(cut(Buffer.from(text), 100), "b")).toEqual([["file", "a; name=b.csv", "x"]])
  })

  test("may have names that are tokens, as some programs write them", async () => {
    const text = "--b\r\nContent-Disposition: form-data; name=file; filename=list.csv\r\n\r\nx\r\n--b--\r\n"
    expect(await read(cut(Buffer.from(text), 100), "b")).toEqual([["file", "list.csv", "x"]])
  })

  test.each([
    ["a part without a name", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n"],
    ["a long head", `--b\r\nContent-Disposition: form-data; name="${"n".repeat(9000)}"\r\n\r\nx\r\n--b--\r\n`],
    ["much before the first part", `${"x".repeat(9000)}\r\n--b\r\n`],
    ["no boundary at all", "name=x"],
  ])("is refused with %s", async (_, text) => {
    expect(await problemOf(read(cut(Buffer.from(text), 100), "b"))).toBe("invalid_input")
  })
})

test.each([
  ["multipart/form-data; boundary=----x1", "----x1"],
  ['Multipart/Form-Data; charset=utf-8; boundary="a b"', "a b"],
  ["multipart/form-data", null],
  ["multipart/form-data; boundary=", null],
  [`multipart/form-data; boundary=${"x".repeat(71)}`, null],
  ["application/x-www-form-urlencoded", null],
  [null, null],
])("the boundary of %p is %p", (contentType, boundary) => {
  expect(formBoundary(contentType)).toBe(boundary)
})
