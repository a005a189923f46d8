import { expect, test } from "bun:test"
import { Problem } from "../../../src/http/response/problem.ts"
import { readForm } from "../../../src/http/site/form-body.ts"
import { outcomeOf } from "../../support/outcome-of.ts"

const BOUND = 2000
const ROOM = { reserveBody: () => undefined, releaseBody: () => undefined, nextTick: queueMicrotask }

const sent = (body: BodyInit, mediaType: string | null = null) =>
  readForm(
    new Request("http://localhost/", {
      method: "POST",
      body,
      ...(mediaType === null ? {} : { headers: { "Content-Type": mediaType } }),
    }),
    BOUND,
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

test("a file comes with its octets, is no text, and is none where nothing was chosen", async () => {
  const parts = new FormData()
  parts.append("file", new File([new Uint8Array([255, 0, 10])], "x.csv", { type: "text/csv" }))
  parts.append("none", new File([], ""))
  const form = await sent(parts)
  const file = form.file("file")
  expect([file?.name, file?.mediaType, [...((await file?.bytes()) ?? [])]]).toEqual(["x.csv", "text/csv", [255, 0, 10]])
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
