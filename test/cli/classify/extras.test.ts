import { describe, expect, test } from "bun:test"
import { parse } from "csv-parse/sync"
import type { Check } from "../../../src/check/check.ts"
import { ANSWER_PARTS } from "../../../src/check/verdict/evidence-need.ts"
import { RESULT_COLUMN_NAMES, RESULT_COLUMNS } from "../../../src/contract/result-columns.ts"
import { check } from "../../support/app.ts"
import { classifying, linesOf } from "./classifying.ts"

const TABLE = `note,E-Mail
1,Ja.ne+News@GoogleMail.com
2,n/a
3,jane@gmail.com
4,<JANE@gmail.com>
5,a@b@c
6,a@b@c
7,https://www.stripe.com/x
8,stripe.com
`

describe("--columns", () => {
  const LIST = "note,email\n1,jane@mailinator.com\n2,n/a\n3,<jane@stripe.com>\n"
  const written = async (columns: string, ...options: string[]) => {
    const asked = new Set<number | undefined>()
    const asking: Check = request => {
      asked.add(request.parts)
      return check(request)
    }
    const { code, answered, err } = await classifying({ "in.csv": LIST, "in.txt": "a@b.com\n" }, { check: asking }).run(
      ...["in.csv", "--columns", columns, ...options],
    )
    return { code, err, asked: [...asked], rows: code === 0 ? parse(answered) : [] }
  }

  test("names what is written, in the order of the table", async () => {
    const { rows } = await written("reasons, is_disposable,category,input_skipped")
    expect(rows).toEqual([
      ["note", "email", "category", "reasons", "is_disposable", "input_skipped"],
      ["1", "jane@mailinator.com", "disposable", "disposable_domain dns_unavailable", "true", "false"],
      ["2", "n/a", "", "", "", "true"],
      ["3", "<jane@stripe.com>", "business", "known_organisation dns_unavailable", "false", "false"],
    ])
    expect((await written("input_checked")).rows.map((row: string[]) => row[2])).toEqual([
      "input_checked",
      "",
      "",
      "jane@stripe.com",
    ])
    expect((await written("category")).rows.map((row: string[]) => row.length)).toEqual([3, 3, 3, 3])
  })

  test("asks for what the columns show, and by default for the verdict alone", async () => {
    const { disposableHosts, hosts, mail, mailbox, workspace } = ANSWER_PARTS
    for (const [columns, parts] of [
      ["category,reasons", 0],
      ["is_disposable,has_mx", disposableHosts | hosts],
      ["suite_a", workspace],
      ["spf", mail],
    ] as const)
      expect((await written(columns)).asked).toEqual([parts])
    expect((await written("category", "--duplicates")).asked).toEqual([mailbox])
    expect((await written(USUAL)).asked).toEqual([0])
  })

  test("is refused with a column that does not exist, or twice, and where results are no table", async () => {
    for (const columns of ["categry", "category,category", ""])
      expect(await written(columns)).toMatchObject({
        code: 2,
        err: expect.stringContaining("--columns has some of category, confidence, "),
      })
    expect(await written("category", "--format", "ndjson")).toMatchObject({
      err: expect.stringContaining("Only csv has columns."),
    })
  })

  test("are all in the help", async () => {
    const { out } = await classifying({}).run("--help")
    expect(RESULT_COLUMN_NAMES.filter(name => !out.includes(name))).toEqual([])
  })
})

/** The columns where none are named. */
const USUAL = RESULT_COLUMN_NAMES.filter(name => RESULT_COLUMNS[name].isUsual).join(",")

describe("--canonical and --duplicates", () => {
  test("add the mailbox behind an address, and the number of the first row with the same one", async () => {
    const { run } = classifying({ "in.csv": TABLE })
    const { answered, err } = await run("in.csv", "--canonical", "--duplicates")
    const [head = [], ...rows] = parse(answered)
    expect(head.slice(-3)).toEqual(["input_skipped", "canonical_email", "duplicate_of"])
    expect(rows.map((row: string[]) => row.slice(-2))).toEqual([
      ["jane@gmail.com", ""],
      ["", ""],
      ["jane@gmail.com", "1"],
      ["jane@gmail.com", "1"],
      ["", ""],
      ["", ""],
      ["", ""],
      ["", "7"],
    ])
    expect(err).toMatch(/duplicates +3 +An earlier row has the same mailbox or domain\./)
    const summary = JSON.parse((await run("in.csv", "--duplicates", "--json")).err)
    expect(summary).toMatchObject({ duplicates: 3, duplicates_cut_off: false })
  })

  test("add members to NDJSON, and a member of the line with such a name gets another", async () => {
    const { run } = classifying({
      "in.ndjson": '{"email":"a@gmail.com","duplicate_of":"x"}\n{"email":"A+1@gmail.com"}\n{"email":null}\n',
    })
    const { answered } = await run("in.ndjson", "--canonical", "--duplicates")
    const [first, second, third] = linesOf(answered).map(line => JSON.parse(line))
    expect(first).toMatchObject({ input_duplicate_of: "x", canonical_email: "a@gmail.com", duplicate_of: null })
    expect(second).toMatchObject({ email: "A+1@gmail.com", canonical_email: "a@gmail.com", duplicate_of: 1 })
    expect(third).toEqual({ input_email: null, skipped: true })
    const [plain] = linesOf((await run("in.ndjson")).answered).map(line => JSON.parse(line))
    expect(plain).toMatchObject({ duplicate_of: "x" })
  })

  test("have no place in text", async () => {
    const { run } = classifying({ "in.txt": "a@gmail.com\n" })
    for (const option of ["--canonical", "--duplicates"])
      expect(await run("in.txt", option)).toMatchObject({ code: 2, answered: "" })
    expect((await run("in.txt", "--duplicates", "--format", "csv")).code).toBe(0)
  })

  test.each(["--canonical", "--duplicates", "--canonical --duplicates --safe-cells"])(
    "%s: a run that was cut at any byte goes on to the same bytes",
    async named => {
      const options = named.split(" ")
      const rows = Array.from({ length: 12 }, (_, at) => `${at},jane${at % 5}+${at}@gmail.com\n`).join("")
      const text = `n,email\n${rows}`
      const first = classifying({ "in.csv": text })
      await first.run("in.csv", "--out", "out", ...options)
      const whole = first.textOf("out") ?? ""
      for (let cut = 0; cut <= whole.length; cut += 37) {
        const { run, textOf } = classifying({ "in.csv": text, out: whole.slice(0, cut) }, { partBytes: 61 })
        expect((await run("in.csv", "--out", "out", "--resume", ...options)).code).toBe(0)
        expect(textOf("out")).toBe(whole)
      }
      const other = classifying({ "in.csv": text, out: whole })
      expect((await other.run("in.csv", "--out", "out", "--resume")).code).toBe(1)
    },
  )
})
