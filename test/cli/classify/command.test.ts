import { describe, expect, test } from "bun:test"
import { Check } from "@sinclair/typebox/value"
import { parse } from "csv-parse/sync"
import fc from "fast-check"
import type { CheckOutcome } from "../../../src/check/result/result.ts"
import { CheckResult } from "../../../src/contract/result-schema.ts"
import { check } from "../../support/app.ts"
import { categoriesOf, classifying, inputsOf, linesOf } from "./classifying.ts"

describe("text", () => {
  test("has a result a line in the order of inputs, between tabs", async () => {
    const { run } = classifying({ "in.txt": "jane@gmail.com\nx@mailinator.com\r\nhttps://stripe.com/a\n" })
    const { code, answered } = await run("in.txt")
    expect(code).toBe(0)
    expect(linesOf(answered)).toEqual([
      "jane@gmail.com\tpersonal\t0.792\treview\tfree_provider,dns_unavailable",
      "x@mailinator.com\tdisposable\t0.792\tblock\tdisposable_domain,dns_unavailable",
      "https://stripe.com/a\tbusiness\t0.7\treview\tknown_organisation,dns_unavailable",
    ])
  })

  test("no line stops the run, and each has its result", async () => {
    const hostile = [
      "",
      " ",
      "\0",
      "a\tb",
      "\u001b[2J",
      "x".repeat(70_000),
      "@",
      '"',
      "{",
      "a@b@c",
      "\ud800",
      "é@é.com",
    ]
    const { run } = classifying({ "in.txt": [...hostile, "jane@gmail.com"].join("\n") })
    const { code, answered } = await run("in.txt", "--format", "text", "--force")
    expect(code).toBe(0)
    expect(linesOf(answered)).toHaveLength(hostile.length + 1)
    expect(linesOf(answered).every(line => /^[^\t\p{Cc}]*(?:\t[^\t\p{Cc}]*){3}\t[^\t\p{Cc}]+$/u.test(line))).toBe(true)
    expect(linesOf(answered).slice(0, 2)).toEqual(["\t\t\t\tskipped", " \t\t\t\tskipped"])
    expect(categoriesOf(answered).at(-1)).toBe("personal")
    expect(linesOf(answered)[5]).toContain("\tinvalid\t1\tblock\ttoo_long")
  })

  test("any bytes have as many results as lines", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), fc.constantFrom("text", "ndjson"), async (any, format) => {
        // A carriage return may end lines too.
        const bytes = any.filter(byte => byte !== 13)
        const { run } = classifying(
          { "-": Buffer.concat([Buffer.from("first"), bytes, Buffer.from("\n")]) },
          { partBytes: 5 },
        )
        const { code, answered } = await run("-", "--format", format, "--encoding", "utf-8", "--force")
        expect(code).toBe(0)
        expect(linesOf(answered)).toHaveLength(bytes.filter(byte => byte === 10).length + 1)
      }),
    )
  })

  test("has no columns", async () => {
    const { run } = classifying({ "in.txt": "a\n" })
    expect(await run("in.txt", "--column", "email")).toMatchObject({ code: 2, answered: "" })
  })
})

describe("csv", () => {
  test("keeps all columns, whatever is in them, and appends the result's", async () => {
    const { run } = classifying({
      "in.csv": '\ufeffName,Email\r\n"Doe, ""Jane""\nX",jane@gmail.com\r\n,typo@gmial.com',
    })
    const [head, jane, typo] = parse((await run("in.csv")).answered)
    // The mark stays before the first name.
    expect(head?.join()).toBe(
      "\ufeffName,Email,category,confidence,recommendation,is_business,did_you_mean,reasons,degraded,input_cleaned,input_checked,input_several,input_skipped",
    )
    const verdict = ["personal", "0.792", "review", "false", "", "free_provider dns_unavailable", "true"]
    const result = [...verdict, "false", "", "", "false"]
    expect(jane).toEqual(['Doe, "Jane"\nX', "jane@gmail.com", ...result])
    expect(typo?.slice(0, 2)).toEqual(["", "typo@gmial.com"])
    expect(typo?.[6]).toBe("gmail.com")
  })

  test("cells beyond the header stand behind the result, so that columns stay columns", async () => {
    const { run } = classifying({ "in.csv": "email,x\na@gmail.com,1,2,3\nb@gmail.com\n" })
    const [, long, short] = linesOf((await run("in.csv")).answered)
    expect(long).toMatch(/^a@gmail.com,1,personal,.*,true,false,,,false,2,3$/)
    expect(short).toMatch(/^b@gmail.com,,personal,/)
  })

  test("names of result columns that are taken get a prefix, so that results can be checked again", async () => {
    const { run } = classifying({ "in.csv": "email,category\na@gmail.com,1\n" })
    const [head] = linesOf((await run("in.csv")).answered)
    expect(head).toStartWith("email,category,mk_category,mk_confidence,")
  })

  test("a broken quote makes an invalid row and the next is read", async () => {
    const { run } = classifying({ "in.csv": 'email,n\n"a@gmail.com,1\nb@gmail.com,2\n' })
    const [, broken, next] = linesOf((await run("in.csv")).answered)
    expect(broken).toStartWith('"""a@gmail.com",1,invalid,1,block,')
    expect(next).toStartWith("b@gmail.com,2,personal,")
  })

  test("a header alone has its head, and a file without bytes nothing", async () => {
    const { run } = classifying({ "in.csv": "email\n", "none.csv": "" })
    expect((await run("in.csv")).answered).toStartWith("email,category,")
    expect(await run("none.csv")).toMatchObject({ code: 0, answered: "" })
  })
})

describe("ndjson", () => {
  test("gives whole results of the API, each with the number of its line", async () => {
    const { run } = classifying({
      "in.jsonl": '{"email":"Jane+x@Gmail.com"}\n"stripe.com"\n{"url":"https://stripe.com"}\n{\n',
    })
    const results = linesOf((await run("in.jsonl")).answered).map(line => JSON.parse(line))
    for (const { line_error, ...result } of results) expect(Check(CheckResult, result)).toBe(true)
    expect(results.map(({ line_error }) => line_error)).toEqual([undefined, undefined, undefined, "not_json"])
    expect(results).toMatchObject([
      { email: "Jane+x@Gmail.com", normalized_email: "jane@gmail.com", request_id: "line_1" },
      { email: null, domain: "stripe.com", request_id: "line_2" },
      { email: null, url: "https://stripe.com", request_id: "line_3" },
      { email: null, domain: null, category: "invalid", reasons: ["invalid_syntax"], request_id: "line_4" },
    ])
  })

  test("is given for text and for CSV too", async () => {
    const { run } = classifying({ "in.txt": "jane@gmail.com\n", "in.csv": "x,email\n1,jane@gmail.com\n" })
    for (const path of ["in.txt", "in.csv"])
      expect(JSON.parse((await run(path, "--format", "ndjson")).answered)).toMatchObject({ email: "jane@gmail.com" })
  })
})

test("a file's name tells its format, and --format that of the results", async () => {
  const { run } = classifying({ "IN.CSV": "email\na@gmail.com\n", "-": "email\na@gmail.com\n" })
  expect((await run("IN.CSV", "--format", "text")).answered).toStartWith("a@gmail.com\tpersonal\t")
  expect((await run("IN.CSV")).answered).toStartWith("email,category")
  expect((await run("-", "--format", "csv")).answered).toStartWith("email,category")
})

test("results stand in the order of inputs when answers come late and out of order", async () => {
  const waiting: (() => void)[] = []
  const late = (outcome: CheckOutcome | Promise<CheckOutcome>): Promise<CheckOutcome> =>
    new Promise(resolve => {
      waiting.push(() => resolve(outcome))
      if (waiting.length % 7 === 0) for (const answer of waiting.splice(0).reverse()) answer()
    })
  const inputs = Array.from({ length: 700 }, (_, at) => `u${at}@gmail.com`)
  let requests = 0
  const { run } = classifying(
    { "in.txt": inputs.map(input => `${input}\n`).join("") },
    {
      partBytes: 100,
      check: question => (requests++ % 3 === 0 && requests < 690 ? check(question) : late(check(question))),
    },
  )
  const running = run("in.txt")
  // Whoever is left behind by the last seven.
  for (let at = 0; at < 2_000; at++) await Promise.resolve()
  while (requests < inputs.length) await new Promise(setImmediate)
  for (const answer of waiting.splice(0)) answer()
  expect(inputsOf((await running).answered)).toEqual(inputs)
})

describe("the summary", () => {
  test("stands beside the results: how the file was read, counts, shares, rate, and the commonest problems with their first rows", async () => {
    const times = [0, 2_000]
    const rows = ["a;n/a", "b;b@gmail.com", "c;Cy <cy@gmail.com>", "d;x@mailinator.com", "e;x@stripe.com; "]
    const { run } = classifying(
      { "in.csv": `Notes\n\nname;Email\n${rows.join("\n")};more\n` },
      { tools: { stopwatch: () => times.shift() ?? 0 } },
    )
    const { answered, out, err } = await run("in.csv", "--policy", "lenient")
    expect(out).toBe("")
    expect(linesOf(answered)).toHaveLength(3 + rows.length)
    expect(err.split("\n").map(line => line.replace(/ +/g, " ").trim())).toEqual([
      "5 results in 2 s, 3 per second",
      "Read as csv in utf-8, a semicolon between cells, header in line 3, 2 lines above it, column 2 `Email` (found by its name).",
      "judged 4 80.0%",
      "allow 3 60.0%",
      "block 1 20.0%",
      "personal 2 40.0%",
      "business 1 20.0%",
      "disposable 1 20.0%",
      "from lists only 4 80.0%",
      "skipped 1 The cell is empty, or says so. They have no verdict.",
      "cleaned 1 What is plainly meant was checked.",
      "wider 1 They have more cells than the file has columns.",
      "Commonest problem:",
      "disposable_domain 1 row, row 4 The domain is on the disposable list.",
    ])
  })

  test("is JSON on the standard error, and on the standard output when that is free", async () => {
    const { run } = classifying({ "in.txt": "a@gmail.com\n" })
    const summary = {
      ...{ results: 1, judged: 1, skipped: 0, kept: 0, degraded: 1, duplicates: null, units: null },
      ...{ by_category: { personal: 1, business: 0 }, by_recommendation: { allow: 0, review: 1, block: 0 } },
      problems: [{ reason: "free_provider", rows: 1, first_row: 1 }],
      file: { format: "text", encoding: "utf-8", delimiter: null, column_by: null },
    }
    const beside = await run("in.txt", "--json")
    expect(beside.out).toBe("")
    expect(JSON.parse(beside.err)).toMatchObject(summary)
    const { answered, out, err } = await run("in.txt", "--json", "--out", "out")
    expect({ answered, err }).toEqual({ answered: "", err: "" })
    expect(JSON.parse(out)).toMatchObject(summary)
  })
})

test("--policy and --offline are what the check is asked with", async () => {
  const { run, requests } = classifying({ "in.txt": "a@gmail.com\n" })
  expect((await run("in.txt", "--policy", "strict", "--offline")).answered).toContain("\tblock\t")
  expect((await run("in.txt", "--policy", "lenient")).answered).toContain("\tallow\t")
  expect(requests).toEqual([true, false])
  expect((await run("in.txt", "--policy", "soft")).code).toBe(2)
})

describe("--safe-cells", () => {
  const FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")']
  const csv = (rows: readonly (readonly string[])[]): string =>
    rows.map(cells => cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join()).join("\n")

  test("puts an apostrophe before formulas, in names, cells and cells beyond the header, and changes nothing else", async () => {
    const harmless = ["", "a=b", " =1", "'=1", "1-1", "jane@gmail.com", "\n=1"]
    const cells = [...FORMULAS, ...harmless]
    const names = ["email", ...cells.map((cell, at) => `${cell}${at}`)]
    const { run } = classifying({ "in.csv": csv([names, ["jane@gmail.com", ...cells, ...cells]]) })
    const safe = (all: readonly string[]) => all.map(cell => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell))
    for (const [options, expected] of [
      [["--safe-cells"], safe],
      [[], (all: readonly string[]) => all],
    ] as const) {
      const [head = [], row = []] = parse((await run("in.csv", ...options)).answered, { relax_column_count: true })
      expect(head.slice(0, names.length)).toEqual([...expected(names)])
      expect(row.slice(1, names.length)).toEqual([...expected(cells)])
      expect(row.slice(-cells.length)).toEqual([...expected(cells)])
      expect(row[names.length]).toBe("personal")
    }
  })

  /** Nothing is found, whatever the cells look like. */
  const AS_ASKED = ["--force", "--delimiter", ",", "--skip", "0", "--column", "1"]

  test("leaves no cell that begins like a formula, whatever is in the file", async () => {
    // A file of many other control characters is refused as binary.
    const character = fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), fc.constantFrom("\t", "\r", "\n", "\f"))
    const cell = fc.oneof(fc.string({ unit: character, maxLength: 5 }), fc.constantFrom(...FORMULAS))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), async rows => {
        const { run } = classifying({ "in.csv": csv([["email", "note"], ...rows]) })
        const { code, answered } = await run("in.csv", "--safe-cells", ...AS_ASKED)
        expect(code).toBe(0)
        for (const record of parse(answered, { relax_column_count: true, relax_quotes: true }))
          for (const text of record) expect(text).not.toMatch(/^[=+\-@\t\r]/)
      }),
    )
  })

  test("is for inputs of other formats too, and for no other results", async () => {
    const { run } = classifying({ "in.ndjson": '"=1+1"\n', "in.csv": "email\n=1\n" })
    expect((await run("in.ndjson", "--format", "csv", "--safe-cells", "--force")).answered).toContain("\n'=1+1,invalid")
    for (const format of ["text", "ndjson"])
      expect(await run("in.csv", "--format", format, "--safe-cells", "--force")).toMatchObject({
        code: 2,
        answered: "",
      })
  })

  test("goes on with --resume where a run with it has ended, and not after one without it", async () => {
    const rows = csv([["email", "note"], ...Array.from({ length: 20 }, (_, at) => [`a${at}@gmail.com`, "=1"])])
    const { run, held: files } = classifying({ "in.csv": rows })
    await run("in.csv", "--out", "all.csv", "--safe-cells")
    const whole = String(files.get("all.csv"))
    files.set("cut.csv", Buffer.from(whole.slice(0, whole.length / 2)))
    expect(await run("in.csv", "--out", "cut.csv", "--resume", "--safe-cells")).toMatchObject({ code: 0 })
    expect(String(files.get("cut.csv"))).toBe(whole)
    files.set("cut.csv", Buffer.from(whole.slice(0, whole.length / 2)))
    expect((await run("in.csv", "--out", "cut.csv", "--resume")).code).not.toBe(0)
  })
})
