import { describe, expect, test } from "bun:test"
import { classifying } from "./classifying.ts"

const cleaning = (files: Record<string, string | Uint8Array>) => classifying(files, { command: "clean" })

/** What `clean` makes of a file, and what it says of it. */
async function cleaned(name: string, text: string | Uint8Array, ...options: string[]) {
  const { run } = cleaning({ [name]: text })
  const { code, answered, err } = await run(name, "-o", "-", "--offline", "--json", ...options)
  return { code, text: answered, summary: code === 0 ? JSON.parse(err) : err }
}

const EXPORT = `Report of today

Name;Note;E-Mail
Jane;"a; ""b""";Jane Doe <jane@gmail.com>
Rick;;rick@mailinator.com
None;;n/a
Twice;;jane+news@gmail.com
Kim;;kim@stripe.com / lou@stripe.com
`

describe("clean", () => {
  test("writes the table again as it is, with addresses cleaned and without blocked, empty and repeated rows", async () => {
    const { code, text, summary } = await cleaned("list.csv", EXPORT)
    expect({ code, text }).toEqual({
      code: 0,
      text: 'Report of today\n\nName;Note;E-Mail\nJane;"a; ""b""";jane@gmail.com\nKim;;kim@stripe.com\n',
    })
    expect(summary).toMatchObject({
      ...{ results: 5, kept_rows: 2, dropped: { allow: 0, review: 0, block: 1 }, duplicates: 1 },
      ...{ skipped: 1, cleaned: 2, several: 1, duplicates_cut_off: false },
      file: { delimiter: ";", header_line: 3, lines_above: 2, column: "E-Mail" },
    })
  })

  test("keeps what it is told to keep, and duplicates when they are wanted", async () => {
    const blocked = await cleaned("list.txt", "a@mailinator.com\nb@gmail.com\n", "--keep", "block")
    expect(blocked.text).toBe("a@mailinator.com\n")
    const twice = await cleaned("list.txt", "b@gmail.com\nb+x@gmail.com\n", "--keep-duplicates")
    expect(twice.text).toBe("b@gmail.com\nb+x@gmail.com\n")
    expect((await cleaned("list.txt", "b@gmail.com\n", "--keep", "all")).code).not.toBe(0)
  })

  test("keeps a byte order mark, and the members of NDJSON with their text", async () => {
    expect((await cleaned("list.csv", "\ufeffemail,n\n<b@gmail.com>,1\n")).text).toBe("\ufeffemail,n\nb@gmail.com,1\n")
    const lines = '{"id":12345678901234567890,"mail":"mailto:b@gmail.com"}\n{"id":2,"mail":null}\n'
    expect((await cleaned("list.ndjson", lines)).text).toBe('{"id":12345678901234567890,"mail":"b@gmail.com"}\n')
    expect((await cleaned("list.ndjson", '"<b@gmail.com>"\nc@gmail.com\n')).text).toBe('"b@gmail.com"\nc@gmail.com\n')
  })

  test("replaces no file unless it is told to, and never its input", async () => {
    const { run, textOf } = cleaning({ "in.txt": "b@gmail.com\n", "out.txt": "mine\n" })
    expect((await run("in.txt", "-o", "out.txt")).code).toBe(1)
    expect((await run("in.txt", "-o", "in.txt", "--force")).code).toBe(2)
    expect(await run("in.txt", "-o", "out.txt", "--force")).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 of 1 rows stay"),
    })
    expect(textOf("out.txt")).toBe("b@gmail.com\n")
  })
})
