import { expect, test } from "bun:test"
import fc from "fast-check"
import { FORM_PARTS_MAX } from "../../../src/http/request/multipart.ts"
import { Problem } from "../../../src/http/response/problem.ts"
import { readForm } from "../../../src/http/site/form-body.ts"
import { outcomeOf } from "../../support/outcome-of.ts"

const BOUND = 2000
const ROOM = { reserveBody: () => undefined, releaseBody: () => undefined, nextTick: queueMicrotask }

const sent = (body: BodyInit, mediaType: string | null = null, bytesMax = BOUND) =>
  readForm(
    new Request("http://localhost/", {
      method: "POST",
      body,
      ...(mediaType === null ? {} : { headers: { "Content-Type": mediaType } }),
    }),
    bytesMax,
    ROOM,
  )

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    ;(await outcomeOf(work))()
    return "read"
  } catch (fault) {
    if (fault instanceof Problem) return fault.code
    throw fault
  }
}

const PARTS = "multipart/form-data; boundary=X"
const part = (name: string, value: string) =>
  `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

test("fields of both kinds of form are read alike", async () => {
  const parts = new FormData()
  parts.append("a", " one\r\ntwo ")
  parts.append("a", "three")
  for (const form of [
    await sent(parts),
    await sent(
      new URLSearchParams([
        ["a", " one\r\ntwo "],
        ["a", "three"],
      ]),
    ),
  ]) {
    expect(form.text("a")).toBe("one\r\ntwo")
    expect(form.all("a")).toEqual([" one\r\ntwo ", "three"])
    expect([form.text("b"), form.all("b"), form.file("a"), form.file("b")]).toEqual(["", [], null, null])
  }
})

test("a file comes with its text, has none that is not UTF-8, is no field, and is none where nothing was chosen", async () => {
  const parts = new FormData()
  parts.append("file", new File(["\ufeffé\0\n"], "x.csv", { type: "text/csv" }))
  parts.append("latin1", new File([new Uint8Array([0xe9])], "y"))
  parts.append("none", new File([], ""))
  const form = await sent(parts)
  const file = form.file("file")
  expect(file).toEqual({ name: "x.csv", mediaType: "text/csv", text: "é\0\n" })
  expect(form.file("latin1")?.text).toBeNull()
  expect([form.text("file"), form.all("file"), form.file("none")]).toEqual(["", [], null])
})

test.each([
  [PARTS, "", "invalid_input"],
  [PARTS, part("a", "b"), "invalid_input"],
  [PARTS, `${part("a", "b")}--X--\r\n`, "read"],
  ["multipart/form-data; boundary=Y", `${part("a", "b")}--X--\r\n`, "invalid_input"],
  ["multipart/form-data; boundary=", `${part("a", "b")}--X--\r\n`, "invalid_input"],
  ["multipart/form-data", `${part("a", "b")}--X--\r\n`, "invalid_input"],
  ["multipart/mixed; boundary=X", `${part("a", "b")}--X--\r\n`, "invalid_input"],
  ["application/json", "{}", "invalid_input"],
  ["text/plain", "a=b", "invalid_input"],
  ["application/x-www-form-urlencoded; charset=UTF-8", "a=b", "read"],
])("%s with %j is %s", async (mediaType, body, code) => {
  expect(await codeOf(sent(body, mediaType))).toBe(code)
})

test("neither kind of form is read beyond its bound, with a length told or without", async () => {
  const close = "--X--\r\n"
  const fits = part("a", "x".repeat(BOUND - part("a", "").length - close.length)) + close
  expect(Buffer.byteLength(fits)).toBe(BOUND)
  const asStream = (text: string) => new Blob([text]).stream()
  for (const body of [fits, asStream(fits)]) expect(await codeOf(sent(body, PARTS))).toBe("read")
  for (const body of [`${fits}x`, asStream(`${fits}x`)])
    expect(await codeOf(sent(body, PARTS))).toBe("payload_too_large")
  expect(await codeOf(sent(`a=${"x".repeat(BOUND)}`, "application/x-www-form-urlencoded"))).toBe("payload_too_large")
})

test("a form has so many fields and not one more, whatever they hold, and nothing is decoded before they are counted", async () => {
  const close = "--X--\r\n"
  const urlencoded = "application/x-www-form-urlencoded"
  for (const [mediaType, formOf] of [
    [urlencoded, (count: number) => Array(count).fill("a").join("&")],
    [urlencoded, (count: number) => "&".repeat(count - 1)],
    [PARTS, (count: number) => part("a", "").repeat(count) + close],
  ] as const) {
    const read = (count: number) => sent(formOf(count), mediaType, 100_000)
    expect((await read(FORM_PARTS_MAX)).text("a")).toBe("")
    expect(await codeOf(read(FORM_PARTS_MAX + 1))).toBe("invalid_input")
  }
})

test("a field is decoded as browsers write it, wherever a slice of a long body ends", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom("a", "é", "%", "%4", "+", " ", "&", "=", "\ufeff", "😀", "\0", ";") }),
      fc.integer({ min: 0, max: 9 }),
      async (end, less) => {
        const text = `${"a".repeat(65_536 - less)}${end}`
        const parts = new FormData()
        for (const [name, value] of [
          ["a", text],
          ["é", "2"],
        ] as const)
          parts.append(name, value)
        for (const body of [new URLSearchParams({ a: text, é: "2" }), parts]) {
          const form = await sent(body, null, 1_000_000)
          expect([form.all("a"), form.all("é")]).toEqual([[text], ["2"]])
        }
        const raw = `x=${end.toWellFormed().replaceAll("&", "")}`
        const form = await sent(raw, "application/x-www-form-urlencoded")
        expect(form.all("x")).toEqual(new URLSearchParams(raw).getAll("x"))
      },
    ),
  )
})
