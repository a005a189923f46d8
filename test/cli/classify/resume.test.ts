import { describe, expect, test } from "bun:test"
import { classifying, linesOf } from "./classifying.ts"

const INPUTS = {
  "in.txt": "jane@gmail.com\n\njané@acme.com\nno\ttab\nhttps://stripe.com/x\n\u0007bell@x.com\nlast.com",
  "in.csv":
    'name;email;"no\nte"\n"Ja;ne";jane@gmail.com;"two\nlines"\nshort\n"bro"ken;a@b.com;x\n"a ""b""";é@acme.com;1;more;cells\n',
  "in.ndjson": '{"email":"jane@gmail.com"}\n{broken\n{"url":"https://acme.com/é?\\"q"}\nplain@mailinator.com\n',
} as const

describe.each(Object.entries(INPUTS))("results of %s", (path, text) => {
  test("that are cut at any byte are the same again after a run that goes on", async () => {
    const whole = await resultsOf(path, text)
    const bytes = Buffer.from(whole)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { run, textOf } = classifying({ [path]: text, out: bytes.subarray(0, cut) }, { partBytes: 61 })
      const { code, err } = await run(path, "--out", "out", "--resume")
      expect({ cut, code, out: textOf("out") }).toEqual({ cut, code: 0, out: whole })
      expect(err).toContain("results")
    }
  }, 300_000)

  test("of other inputs are refused and left as they are, torn or whole", async () => {
    const whole = await resultsOf(path, text)
    const other = text.replaceAll("jane", "june").replace(/last|plain|é@acme/g, "other")
    for (const left of [whole, whole.slice(0, whole.indexOf("jane") + 4)]) {
      const { run, textOf } = classifying({ [path]: other, out: left })
      const { code, err } = await run(path, "--out", "out", "--resume")
      expect(code).toBe(1)
      expect(err).toContain("does not hold results of this input")
      expect(textOf("out")).toBe(left)
    }
  })

  test("of more inputs than there are now are refused and left as they are", async () => {
    const whole = await resultsOf(path, text)
    const fewer = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1)
    const { run, textOf } = classifying({ [path]: fewer, out: whole })
    expect((await run(path, "--out", "out", "--resume")).code).toBe(1)
    expect(textOf("out")).toBe(whole)
  })

  test("of another format, and files of others, are refused and left as they are", async () => {
    for (const left of ["a letter", "a letter\n", '{"email":"x"}\n', "name,email\n"]) {
      const { run, textOf } = classifying({ [path]: text, out: left })
      expect((await run(path, "--out", "out", "--resume")).code).toBe(1)
      expect(textOf("out")).toBe(left)
    }
  })
})

test("a run that goes on tells how many results were there", async () => {
  const { run } = classifying({
    "in.txt": "a@gmail.com\nb@gmail.com\n",
    out: await resultsOf("in.txt", "a@gmail.com\n"),
  })
  const { out } = await run("in.txt", "--out", "out", "--resume", "--json")
  expect(JSON.parse(out)).toMatchObject({ results: 1, kept: 1, by_category: { personal: 1 } })
})

test("a run that goes on where nothing was begun begins", async () => {
  const { run, textOf } = classifying({ "in.txt": "a@gmail.com\n" })
  expect((await run("in.txt", "--out", "out", "--resume")).code).toBe(0)
  expect(textOf("out")).toContain("a@gmail.com\tpersonal")
})

test("ids of NDJSON results go on too", async () => {
  const whole = await resultsOf("in.ndjson", INPUTS["in.ndjson"])
  expect(linesOf(whole).map(line => JSON.parse(line).request_id)).toEqual(["line_1", "line_2", "line_3", "line_4"])
})

test("a disk that is full is told, with how to go on, and going on gives the same file", async () => {
  const text = "jane@gmail.com\n".repeat(100)
  const whole = await resultsOf("in.txt", text)
  const { run, textOf } = classifying({ "in.txt": text }, { roomBytes: 1_000 })
  const { code, err } = await run("in.txt", "--out", "out")
  expect(code).toBe(1)
  expect(err).toContain("no space left")
  expect(err).toContain("--resume")
  const more = classifying({ "in.txt": text, out: textOf("out") ?? "" })
  expect((await more.run("in.txt", "--out", "out", "--resume")).code).toBe(0)
  expect(more.textOf("out")).toBe(whole)
})

/** What a run that nobody interrupts writes. */
async function resultsOf(path: string, text: string): Promise<string> {
  const { run, textOf } = classifying({ [path]: text })
  expect((await run(path, "--out", "out")).code).toBe(0)
  return textOf("out") ?? ""
}
