import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

const ROWS = 3000
const LIST = `id,email\n${Array.from({ length: ROWS }, (_, at) => `${at},person${at}@${at % 3 === 0 ? "mailinator" : "gmail"}.com\n`).join("")}`

/** Runs `mailkind jobs` beside a real server, in a directory with a list and a key. */
async function jobsCommand() {
  const server = await serverProcess()
  onTestEnd(server.stop)
  const directory = mkdtempSync(join(tmpdir(), "mailkind-jobs-cli-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "key"), `${server.firstKey}\n`)
  writeFileSync(join(directory, "people.csv"), LIST)
  const environment = { PATH: process.env["PATH"], HOME: directory, MAILKIND_DATA_DIR: directory }
  const start = (...args: readonly string[]) => startProgram([...PROGRAM, "jobs", ...args], directory, environment)
  const jobs = (command: string, ...args: readonly string[]) =>
    start(command, ...args, "--server", server.url, "--key-file", "key").ended()
  const piped = (name: string, ...args: readonly string[]) => {
    const command = [...PROGRAM, "jobs", ...args, "--server", server.url, "--key-file", "key"]
    return startProgram(["sh", "-c", `"$@" < ${name}`, "sh", ...command], directory, environment)
  }
  return { jobs, start, piped, file: (name: string) => readFileSync(join(directory, name), "utf8"), directory }
}

test("a list is uploaded, watched, downloaded and deleted from a shell", async () => {
  const { jobs, file, directory } = await jobsCommand()
  const estimate = await jobs("create", "people.csv", "--dry-run", "--json")
  expect(JSON.parse(estimate.out)).toMatchObject({ rows: ROWS, unique_domains: 2, units_needed: ROWS })
  const created = await jobs("create", "people.csv", "--name", "People", "--no-workspace", "--wait", "--json")
  expect([created.code, created.err]).toEqual([0, expect.stringMatching(new RegExp(`done, ${ROWS} of ${ROWS} rows`))])
  const { id, name, state, workspace } = JSON.parse(created.out)
  expect([name, state, workspace]).toEqual(["People", "done", false])
  expect((await jobs("list")).out).toMatch(new RegExp(`^${id} +done +${ROWS} of ${ROWS} rows .*People\n$`))
  expect((await jobs("show", id)).out).toMatch(/^id +job_.*\nstate +done\n/)
  const saved = await jobs("results", id, "--out", "all.csv", "--json")
  const all = file("all.csv")
  expect(JSON.parse(saved.out)).toEqual({ id, bytes: all.length })
  expect(all.trim().split("\n")).toHaveLength(ROWS + 1)
  expect(await jobs("results", id, "--out", "all.csv")).toMatchObject({
    code: 2,
    err: expect.stringContaining("exists already"),
  })
  expect((await jobs("results", id, "--out", "all.csv", "--force")).code).toBe(0)
  expect(file("all.csv")).toBe(all)
  expect(await jobs("results", id, "--out", "/dev/full")).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^mailkind: Cannot write \/dev\/full: there is no space left.*\. --resume continues\.\n$/,
    ),
  })
  const blocked = await jobs("results", id, "--only", "block")
  expect(blocked.out.trim().split("\n")).toHaveLength(ROWS / 3 + 1)
  writeFileSync(join(directory, "part.csv"), all.slice(0, 12_345))
  expect((await jobs("results", id, "--out", "part.csv", "--resume")).code).toBe(0)
  expect(file("part.csv")).toBe(all)
  expect((await jobs("delete", id)).out).toBe(`${id} and its results are deleted.\n`)
  expect(await jobs("show", id)).toMatchObject({ code: 1, err: expect.stringMatching(/no job with this id/) })
})

test("a list comes from the standard input too", async () => {
  const { piped } = await jobsCommand()
  const { code, out } = await piped("people.csv", "create", "-", "--format", "csv", "--json").ended()
  expect([code, JSON.parse(out).rows.total]).toEqual([0, ROWS])
})

test("a list is read as the options say", async () => {
  const { jobs, directory } = await jobsCommand()
  const table = "left out\nM\u00fcller|jane@gmail.com\nMeyer|mary@gmail.com\n"
  writeFileSync(join(directory, "own.txt"), Buffer.from(table, "latin1"))
  const asked = ["--format", "csv", "--delimiter", "pipe", "--skip", "1", "--no-header", "--column", "2"]
  const created = await jobs("create", "own.txt", ...asked, "--encoding", "windows-1252", "--wait", "--json")
  const { id, rows, reading } = JSON.parse(created.out)
  expect(rows).toMatchObject({ total: 2, unreadable: 0 })
  expect(reading).toMatchObject({ encoding: "windows-1252", delimiter: "|", header_line: null, lines_above: 1 })
  expect((await jobs("results", id)).out).toMatch(/^left out\nM\u00fcller\|jane@gmail\.com\|personal\|/)
  writeFileSync(join(directory, "names.csv"), "Name\nJane Doe\nJohn Doe\n")
  expect(await jobs("create", "names.csv", "--column", "Name")).toMatchObject({ code: 1 })
  expect((await jobs("create", "names.csv", "--column", "Name", "--force")).code).toBe(0)
  expect(await jobs("create", "names.csv", "--skip", "some")).toMatchObject({ code: 2 })
})

test("what is wrong is said in one sentence, with what to do", async () => {
  const { jobs, start, directory } = await jobsCommand()
  writeFileSync(join(directory, "zip.csv"), "PK\x03\x04")
  const faults: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [["create", "nowhere.csv"], 1, /Cannot read nowhere\.csv/],
    [["create", "zip.csv"], 1, /zip archive/],
    [["create", "people.csv", "--column", "mail"], 1, /no column of this name/],
    [["create", "people.csv", "--callback", "https://acme.com/"], 1, /POST \/v1\/callback-secret/],
    [["create", "people.csv", "--format", "xlsx"], 2, /Allowed choices/],
    [["results", "job_1", "--only", "some"], 2, /--only takes allow, review, block/],
    [["results", "job_1", "--resume"], 2, /--resume needs --out/],
    [["watch", "job_1"], 1, /no job with this id/],
  ]
  for (const [args, code, says] of faults)
    expect([args, await jobs(args[0] ?? "", ...args.slice(1))]).toEqual([
      args,
      expect.objectContaining({ code, err: expect.stringMatching(says) }),
    ])
  expect(await start("list").ended()).toMatchObject({ code: 2, err: expect.stringMatching(/needs --server/) })
  const dead = await start("list", "--server", "http://127.0.0.1:9", "--key-file", "key").ended()
  expect(dead).toMatchObject({ code: 1, err: expect.stringMatching(/No server answers/) })
})
