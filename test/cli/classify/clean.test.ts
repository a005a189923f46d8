import { describe, expect, test } from "bun:test"
import type { Check } from "../../../src/check/check.ts"
import type { CheckOutcome } from "../../../src/check/result/result.ts"
import { ANSWER_PARTS } from "../../../src/check/verdict/evidence-need.ts"
import { check } from "../../support/app.ts"
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

  test("begins a table of another encoding with a byte order mark, and names no file for what it does not write", async () => {
    const latin = await cleaned("eu.csv", Buffer.from("Name;E-Mail\nJ\u00fcrgen;j@stripe.com\n", "latin1"))
    expect(latin.text).toBe("\ufeffName;E-Mail\nJ\u00fcrgen;j@stripe.com\n")
    const { run } = cleaning({ "list.csv": "email\nj@stripe.com\n" })
    expect(await run("list.csv", "-o", "clean.xlsx", "--offline")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Name it .csv"),
    })
  })

  test("keeps what it is told to keep, and duplicates when they are wanted", async () => {
    const blocked = await cleaned("list.txt", "a@mailinator.com\nb@gmail.com\n", "--keep", "block")
    expect(blocked.text).toBe("a@mailinator.com\n")
    const twice = await cleaned("list.txt", "b@gmail.com\nb+x@gmail.com\n", "--keep-duplicates")
    expect(twice.text).toBe("b@gmail.com\nb+x@gmail.com\n")
    expect((await cleaned("list.txt", "b@gmail.com\n", "--keep", "all")).code).not.toBe(0)
  })

  test("asks who runs the mail, since the mailbox behind a tag depends on that, unless duplicates are kept", async () => {
    for (const [options, parts] of [
      [[], ANSWER_PARTS.mailbox],
      [["--keep-duplicates"], 0],
    ] as const) {
      const asked: (number | undefined)[] = []
      const asking: Check = request => {
        asked.push(request.parts)
        return check(request)
      }
      await classifying({ "list.txt": "b@acme.com\n" }, { command: "clean", check: asking }).run(
        "list.txt",
        "-o",
        "-",
        ...options,
      )
      expect(asked).toEqual([parts])
    }
  })

  test("keeps a byte order mark, and the members of NDJSON with their text", async () => {
    expect((await cleaned("list.csv", "\ufeffemail,n\n<b@gmail.com>,1\n")).text).toBe("\ufeffemail,n\nb@gmail.com,1\n")
    const lines = '{"id":12345678901234567890,"mail":"mailto:b@gmail.com"}\n{"id":2,"mail":null}\n'
    expect((await cleaned("list.ndjson", lines)).text).toBe('{"id":12345678901234567890,"mail":"b@gmail.com"}\n')
    expect((await cleaned("list.ndjson", '"<b@gmail.com>"\nc@gmail.com\n')).text).toBe('"b@gmail.com"\nc@gmail.com\n')
  })

  test("--dropped has the rows that are left out, as they are, below the same header, and the summary says why", async () => {
    const { run, textOf } = cleaning({
      "list.csv": `\ufeff${EXPORT}Odd;;a@b@c\n`,
      "list.ndjson": '{"id":1,"mail":"<b@gmail.com>"}\n{no\n',
    })
    const { err } = await run("list.csv", "-o", "-", "--dropped", "rest.csv")
    expect(textOf("rest.csv")).toBe(
      "\ufeffReport of today\n\nName;Note;E-Mail\nRick;;rick@mailinator.com\nNone;;n/a\nTwice;;jane+news@gmail.com\nOdd;;a@b@c\n",
    )
    expect(err.split("\n").map(line => line.replace(/ +/g, " ").trim())).toEqual([
      "2 of 6 rows stay, after 0 s",
      "left out: disposable_domain 1",
      "left out: invalid_syntax 1",
      "left out: duplicates 1",
      "left out: without an input 1",
      "cleaned 2",
      "with several addresses, of which the first stays 1",
      "Read as csv in utf-8, a semicolon between cells, header in line 3, 2 lines above it, column 3 `E-Mail` (found by its name).",
      "Commonest problems:",
      "free_provider 2 rows, the first row 1 The domain is that of a free or consumer mailbox provider.",
      "disposable_domain 1 row, row 2 The domain is on the disposable list.",
      "dns_unavailable 1 row, row 5 DNS gave no answer. The verdict comes from the lists alone.",
    ])
    await run("list.ndjson", "-o", "-", "--dropped", "rest.ndjson", "--keep", "allow")
    expect(textOf("rest.ndjson")).toBe('{"id":1,"mail":"<b@gmail.com>"}\n{no\n')
  })

  test("keeps the lines above a text, rows that are short or wide, and the absence of a header", async () => {
    const rows = "1,jane@gmail.com,x\n2,bo@gmail.com\n3,cy@gmail.com,x,y\n"
    expect((await cleaned("list.csv", rows)).text).toBe(rows)
    expect((await cleaned("list.txt", "my friends\njane@gmail.com\n", "--skip", "1")).text).toBe(
      "my friends\njane@gmail.com\n",
    )
  })

  test("a dropped row is nobody's first, and what was cleaned is the same again", async () => {
    const { text } = await cleaned("list.txt", "no@@\nx@mailinator.com\n<x@mailinator.com>\n", "--keep", "block")
    expect(text).toBe("no@@\nx@mailinator.com\n")
    const once = await cleaned("list.csv", EXPORT)
    expect((await cleaned("list.csv", once.text)).text).toBe(once.text)
  })

  test("the first of several rows stays, however late its answer comes", async () => {
    const late = (outcome: CheckOutcome | Promise<CheckOutcome>) =>
      new Promise<CheckOutcome>(resolve => setImmediate(() => resolve(outcome)))
    let asked = 0
    const { run } = classifying(
      { "in.csv": "n,email\n1,a@gmail.com\n2,A@gmail.com\n3,a+x@gmail.com\n" },
      { command: "clean", check: request => (asked++ === 0 ? late(check(request)) : check(request)) },
    )
    expect((await run("in.csv", "-o", "-")).answered).toBe("n,email\n1,a@gmail.com\n")
  })

  test("replaces no file unless it is told to, and never its input", async () => {
    const { run, textOf } = cleaning({ "in.txt": "b@gmail.com\n", "out.txt": "mine\n" })
    expect(await run("in.txt", "-o", "out.txt")).toMatchObject({
      code: 1,
      err: "out.txt exists already. Replace it with --force.",
    })
    expect((await run("in.txt", "-o", "new.txt", "--dropped", "out.txt")).code).toBe(1)
    expect((await run("in.txt", "-o", "new.txt", "--dropped", "new.txt")).code).toBe(2)
    expect((await run("in.txt", "-o", "new.txt", "--dropped", "in.txt", "--force")).code).toBe(2)
    expect({ new: textOf("new.txt"), in: textOf("in.txt") }).toEqual({ new: null, in: "b@gmail.com\n" })
    expect((await run("in.txt", "-o", "in.txt", "--force")).code).toBe(2)
    expect(await run("in.txt", "-o", "out.txt", "--force")).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 of 1 rows stay"),
    })
    expect(textOf("out.txt")).toBe("b@gmail.com\n")
  })
})
