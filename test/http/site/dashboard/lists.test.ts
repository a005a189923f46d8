import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { JOB_LIMITS } from "../../../../src/contract/jobs.ts"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { Exchange } from "../../../../src/http/exchange.ts"
import { progressStream, STREAMS_PER_ACCOUNT_MAX } from "../../../../src/http/site/dashboard/jobs/progress-stream.tsx"
import { anotherAccount } from "../../../contract/another-account.ts"
import { newAccount } from "../../../customers/temp-store.ts"
import {
  type BrowserPage,
  errorAt,
  linksIn,
  openSignedIn,
  repeatedIds,
  signedInBrowser,
} from "../../../support/html-browser.ts"
import { HOSTILE } from "../../../support/open-site.ts"

const PATH = "/dashboard/jobs"
const CSV = "name,email\nJane,jane@gmail.com\nJoe,joe@mailinator.com\nAda,ada@acme.com\n"

const csvFile = (text = CSV, name = "people.csv"): File => new File([text], name, { type: "text/csv" })

type Opened = Awaited<ReturnType<typeof openSignedIn>>

/** Uploads a list and shows its page. */
async function upload(
  { postParts, get }: Opened,
  fields: Readonly<Record<string, string | File>>,
): Promise<BrowserPage> {
  const sent = await postParts(PATH, fields)
  if (sent.redirectPath === null) throw new Error(`${sent.status}: ${sent.text}`)
  return await get(sent.redirectPath)
}

/** Checks the rows of all lists that can be checked now. Beside requests a check rests, and the disk takes its own time. */
async function checkAll({ harness: { jobs, time } }: Opened): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await jobs.look()
    while (jobs.runningCount > 0) {
      await Bun.sleep(0)
      await time.tick(1)
    }
  }
}

/** The same, when all rows are done. */
async function uploadDone(opened: Opened, fields: Readonly<Record<string, string | File>>): Promise<BrowserPage> {
  const { path } = await upload(opened, fields)
  await checkAll(opened)
  return await opened.get(path.replace(/\?.*/, ""))
}

describe("without a script", () => {
  test("a list is uploaded, watched, downloaded and deleted", async () => {
    const opened = await openSignedIn()
    const page = await opened.get(PATH)
    expect(page.status).toBe(200)
    expect(page.text).toContain("No lists yet.")
    expect(repeatedIds(page.html)).toEqual([])
    const sent = await upload(opened, { name: "Customers", policy: "b2b", file: csvFile() })
    expect(sent.text).toContain("You can close this page.")
    expect(linksIn(sent)).toContain(sent.path)
    await checkAll(opened)
    const done = await opened.get(sent.path.replace(/\?.*/, ""))
    for (const words of [
      "Done. 3 rows checked in ",
      "Will be deleted on 3 Jan, 00:00 UTC",
      "Download all 3",
      "Checked 3 rows, 3 units",
      "header in line 1 \u00b7 column 2",
      "The domain is on the disposable list. 1 row 2",
      "Disposable 1 33%",
      "block 1 33% Download blocked rows",
    ])
      expect(done.text).toContain(words)
    expect(repeatedIds(done.html)).toEqual([])
    const file = await opened.get(`${done.path}/results`)
    expect(file.html).toStartWith("name,email,category,confidence,recommendation")
    expect(file.html.trim().split("\n")).toHaveLength(4)
    expect((await opened.get(PATH)).text).toMatch(/Customers .*Block: 1 3 /)
    const confirmation = await opened.get(`${done.path}/delete`)
    expect(confirmation.text).toContain("You cannot undo this.")
    const deleted = await opened.submitAndFollow(`${done.path}/delete`)
    expect(deleted.text).toContain("The list and its results are deleted.")
    expect((await opened.get(done.path)).status).toBe(404)
    await opened.harness.jobs.sweep()
    expect(readdirSync(opened.harness.jobsFolder).filter(name => name.startsWith("job_"))).toEqual([])
  })

  test("pasted addresses are a list too, and stay in a form that is refused", async () => {
    const opened = await openSignedIn()
    const pasted = "jane@gmail.com\njoe@mailinator.com, ada@acme.com"
    const refused = await opened.postParts(PATH, { pasted, policy: "nice" })
    expect([refused.status, errorAt(refused.html, "policy")]).toEqual([400, "Choose one of the policies."])
    expect(refused.html.replaceAll("\r", "")).toContain(`${pasted}</textarea>`)
    expect(refused.text).not.toContain("Choose the file again")
    const { text } = await upload(opened, { pasted: "jane@gmail.com, joe@mailinator.com", file: new File([], "") })
    expect(text).toStartWith("← Check a list Pasted addresses")
    expect(text).toContain("0 of 2 rows")
  })

  test("a form that is sent twice makes one list, and the second sending leads to it", async () => {
    const opened = await openSignedIn()
    const once = /name="once" value="([^"]+)"/.exec((await opened.get(PATH)).html)?.[1] ?? ""
    const first = await upload(opened, { once, file: csvFile() })
    expect((await upload(opened, { once, file: csvFile() })).path).toBe(first.path)
    expect((await upload(opened, { once, policy: "strict", file: csvFile() })).path).not.toBe(first.path)
    expect(await opened.harness.store.all("SELECT id FROM jobs")).toHaveLength(2)
  })

  test("a preview tells how many rows repeat an earlier one, and a file without rows has nothing to check", async () => {
    const opened = await openSignedIn()
    const rows = "email\na@acme.com\nA@acme.com\na.b@gmail.com\nab@gmail.com\nc@acme.com\n"
    expect((await opened.postParts(ROUTES.postJobEstimate.path, { file: csvFile(rows) })).text).toContain(
      "5 rows , 2 duplicates",
    )
    const empty = await opened.postParts(ROUTES.postJobEstimate.path, { file: csvFile("email,name\n") })
    expect(empty.text).toContain("There is no row to check in this file.")
    expect(empty.text).not.toContain("Check 0 rows")
  })

  test("a part of the results has the header and the rows with this recommendation", async () => {
    const opened = await openSignedIn()
    const { path } = await uploadDone(opened, { file: csvFile() })
    const { html, headers } = await opened.get(`${path}/results?only=block`)
    expect(
      html
        .trim()
        .split("\n")
        .map(row => row.split(",")[0]),
    ).toEqual(["name", "Joe"])
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="mailkind-\w+-block\.csv"$/)
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("cache-control")).toBe("no-store")
    expect((await opened.get(`${path}/results?only=spam`)).status).toBe(404)
  })

  test("results are for a spreadsheet, which runs none of their cells, unless they are wanted as they are", async () => {
    const opened = await openSignedIn()
    const rows = 'email;note\na@acme.com;=1+1\nb@acme.com;"=2;\n""3"""\nc@acme.com;fine\n'
    const { path } = await uploadDone(opened, { file: csvFile(rows) })
    expect((await opened.get(`${path}/results?cells=plain`)).html).toContain("a@acme.com;=1+1;")
    const safe = (await opened.get(`${path}/results`)).html
    expect(safe).toContain("a@acme.com;'=1+1;")
    expect(safe).toContain(`b@acme.com;"'=2;\n""3""";`)
    expect(safe).toContain("c@acme.com;fine;")
  })

  const EXPORT = `Notes:\nFrom our CRM\n\nName;Work email;Home\nJ\u00fcrgen;<JUERGEN@acme.com>;1,5\nAl;n/a;2\nJoe;mailto:joe@mailinator.com;3\nAda;ada@acme.com;${"x".repeat(150)}\n`

  test("a preview says how a list is read and why, what it costs, and keeps nothing of it", async () => {
    const opened = await openSignedIn({ tier: 0 })
    const file = new File([Buffer.from(EXPORT, "latin1")], "export.csv")
    const page = await opened.postParts(ROUTES.postJobEstimate.path, { name: "Customers", file })
    expect(page.status).toBe(200)
    for (const words of [
      "export.csv \u00b7 CSV, semicolon, Windows-1252 \u00b7 header in line 4 \u00b7 column Work email \u00b7 4 rows",
      ", 1 empty, 2 cleaned",
      "Costs 3 units . 999 left today.",
      "<JUERGEN@acme.com> \u2192 JUERGEN@acme.com J\u00fcrgen 1,5",
      "n/a skipped Al 2",
      "Check 4 rows",
      `ada@acme.com Ada ${"x".repeat(100)}\u2026`,
      "Choose the file again first:",
    ])
      expect(page.text).toContain(words)
    expect(page.html).toContain('value="Customers"')
    const chosen = '<input type="radio" name="column" value="2" checked'
    for (const found of ["Found: Semicolon", "Found: Windows-1252", 'placeholder="Found: 3"', chosen])
      expect(page.html).toContain(found)
    expect(repeatedIds(page.html)).toEqual([])
    expect(await opened.harness.store.all("SELECT id FROM jobs")).toEqual([])
    expect(JSON.stringify(opened.harness.logged)).not.toContain("acme.com")
  })

  test("what a preview found can be changed, and stays changed", async () => {
    const opened = await openSignedIn()
    const fields = {
      delimiter: "semicolon",
      encoding: "windows-1250",
      skip: "3",
      column: "1",
      force: "yes",
      headless: "yes",
    }
    const page = await opened.postParts(ROUTES.postJobEstimate.path, { ...fields, file: csvFile(EXPORT) })
    expect(page.text).toContain("CSV, semicolon, Windows-1250 \u00b7 no header \u00b7 column 1 \u00b7 5 rows")
    for (const kept of ['value="3"', 'value="yes" checked', '<option value="semicolon" selected'])
      expect(page.html).toContain(kept)
    const { path } = await upload(opened, { ...fields, file: csvFile(EXPORT) })
    expect((await opened.get(path)).text).toContain("no header \u00b7 column 1")
  })

  test("of several columns with addresses one is chosen", async () => {
    const opened = await openSignedIn()
    const file = csvFile("name,billing email,shipping email\nA,a@acme.com,b@acme.com\nC,c@acme.com,d@acme.com\n")
    const page = await opened.postParts(PATH, { name: "Customers", file })
    expect([page.status, errorAt(page.html, "column")]).toEqual([
      400,
      "2 columns have addresses: 2 \u201cbilling email\u201d, 3 \u201cshipping email\u201d. Choose one with \u201cColumn\u201d.",
    ])
    expect(page.html).toContain('<option value="3">3. shipping email</option>')
    expect(page.html).not.toContain('<option value="1">')
    expect((await upload(opened, { column: "3", file })).text).toContain("column 3")
  })
})

describe("what is refused is said beside the form, with what was entered", () => {
  test.each([
    ["no file", {}, 400, "file", "Choose a file or paste addresses."],
    ["no known column", { file: csvFile("a,b\n1,2\n") }, 400, "column", "No column has a name like “email”"],
    [
      "a column that is not there",
      { column: "mail", file: csvFile() },
      400,
      "column",
      "The file has no column of this name.",
    ],
    [
      "what is no text",
      { file: new File([Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0)], "a.xlsx") },
      400,
      "file",
      "The list is",
    ],
    ["an empty file", { file: csvFile("") }, 400, "file", "The list is empty."],
    ["a wrong policy", { policy: "nice", file: csvFile() }, 400, "policy", "Choose one of the policies."],
    ["a wrong delimiter", { delimiter: "ab", file: csvFile() }, 400, "delimiter", "Choose one of the delimiters."],
    ["a wrong encoding", { encoding: "klingon", file: csvFile() }, 400, "encoding", "Choose one of the encodings."],
    ["too many lines above", { skip: "201", file: csvFile() }, 400, "skip", "Enter a whole number from 0 to 200."],
    ["a wrong format", { format: "xml", file: csvFile() }, 400, "format", "Choose one of the formats."],
    ["a long name", { name: "n".repeat(101), file: csvFile() }, 400, "name", "A name has at most 100 characters."],
    ["a column of a text", { format: "text", column: "x", file: csvFile() }, 400, "column", "A text has no columns."],
  ])("%s", async (_, fields, status, field, message) => {
    const opened = await openSignedIn()
    const page = await opened.postParts(PATH, { name: "Customers", ...fields })
    expect(page.status).toBe(status)
    expect(errorAt(page.html, field)).toContain(message)
    expect(await opened.harness.store.all("SELECT id FROM jobs")).toEqual([])
    expect(readdirSync(opened.harness.jobsFolder).filter(name => name.startsWith("job_"))).toEqual([])
  })

  test("a list that is too large", async () => {
    const opened = await openSignedIn({ jobBytesMax: "65536" })
    for (const size of [65_537, 200_000]) {
      const page = await opened.postParts(PATH, {
        name: "Big",
        file: csvFile(`email\n${"a@acme.com\n".repeat(size / 11 + 1)}`),
      })
      expect(page.status).toBe(413)
      expect(errorAt(page.html, "file")).toContain("The list is larger than")
    }
  })

  test("more lists than an account may have", async () => {
    const opened = await openSignedIn()
    await opened.harness.jobs.stop()
    for (let n = 0; n < JOB_LIMITS.jobsPerAccountMax; n++) await upload(opened, { file: csvFile() })
    expect((await opened.get(PATH)).text).toContain("Delete one to upload another.")
    const page = await opened.postParts(PATH, { file: csvFile() })
    expect(page.status).toBe(409)
    expect(page.text).toContain("Delete one.")
  })
})

test("a form that is cut off or malformed leaves nothing behind", async () => {
  const { postText, harness } = await openSignedIn()
  const whole = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${CSV}\r\n--b--\r\n`
  for (let at = 0; at < whole.length - 6; at += 9) {
    const { status } = await postText(PATH, whole.slice(0, at), "multipart/form-data; boundary=b")
    expect({ at, status }).toEqual({ at, status: 400 })
  }
  expect(await harness.store.all("SELECT id FROM jobs")).toEqual([])
  expect(readdirSync(harness.jobsFolder).filter(name => name.startsWith("job_"))).toEqual([])
  expect((await postText(PATH, whole, "multipart/form-data; boundary=b")).status).toBe(303)
})

test("the name of a file is only a name: it is shown escaped, and stands in no log", async () => {
  const opened = await openSignedIn()
  const page = await uploadDone(opened, { file: csvFile(CSV, `${HOSTILE}.csv`) })
  expect(page.html).not.toContain("<script>alert")
  expect(page.text).toContain("<script>alert")
  expect((await opened.get(PATH)).html).not.toContain("<script>alert")
  expect(JSON.stringify(opened.harness.logged)).not.toContain("alert")
})

test("another account sees, downloads and deletes nothing of a list", async () => {
  const opened = await openSignedIn()
  const { path } = await uploadDone(opened, { file: csvFile() })
  const other = await anotherAccount(opened.harness.changes)
  const { get, post } = await signedInBrowser(opened.harness, other.accountId)
  for (const part of ["", "/results", "/progress", "/delete"]) expect((await get(`${path}${part}`)).status).toBe(404)
  expect((await post(`${path}/delete`)).status).toBe(404)
  expect((await get(PATH)).text).toContain("No lists yet.")
  expect((await opened.get(path)).status).toBe(200)
})

test("the units of a list are the account's, and count for the dashboard", async () => {
  const opened = await openSignedIn()
  await uploadDone(opened, { file: csvFile() })
  expect((await opened.get("/dashboard")).text).toContain("This dashboard")
})

/** A house, and a browser of somebody with an address that takes mail. */
async function openJane(tier: number): Promise<Opened> {
  const { harness } = await openSignedIn()
  const accountId = await newAccount(harness.changes, "jane@example.com", tier)
  return { harness, ...(await signedInBrowser(harness, accountId)) }
}

/** Sends all mails that wait. */
async function sendMails({ harness }: Opened): Promise<void> {
  do await harness.look()
  while ((await harness.store.one("SELECT 1 AS waits FROM outbox WHERE ended_at_ms IS NULL LIMIT 1")) !== null)
}

const subjects = ({ harness }: Opened): readonly string[] => harness.mails.map(({ subject }) => subject)

describe("the owner gets a mail", () => {
  test("once, when a list is done, which says nothing of the list", async () => {
    const opened = await openJane(4)
    const { path } = await uploadDone(opened, { name: "Secret people", file: csvFile() })
    await sendMails(opened)
    expect(subjects(opened)).toEqual(["Your list is ready: 0 allow, 2 review, 1 block"])
    expect(opened.harness.mails[0]?.text).toContain(path)
    expect(JSON.stringify(opened.harness.mails)).not.toMatch(/Secret|people|acme/)
  })

  test("when today's units are used up, and one when the list is done the next day", async () => {
    const opened = await openJane(0)
    const page = await uploadDone(opened, { file: csvFile(`email\n${"a@acme.com\n".repeat(1001)}`) })
    expect(page.text).toContain("List check paused 1,000 of 1,001 rows checked")
    expect(page.text).toContain("You have used today's units.")
    expect(page.text).toContain("Will be deleted 48 hours after its end")
    // The bar is of all rows, so that what is not checked stays empty.
    expect(page.html).toContain('viewBox="0 0 1001 1"')
    expect(page.text).toContain("1,000 of 1,001 rows checked")
    expect(page.html).toContain('href="/#pricing"')
    const overview = await opened.get(ROUTES.dashboard.path)
    expect(overview.text).toContain("Today's units are used up. The API answers 429 until 00:00 UTC")
    expect((await opened.get(`${page.path}/results`)).html.trim().split("\n")).toHaveLength(1001)
    await sendMails(opened)
    expect(subjects(opened)).toContain("Your list check is paused")
    await opened.harness.time.tick(86_400_000)
    await checkAll(opened)
    await sendMails(opened)
    expect(subjects(opened).filter(subject => subject.includes("list"))).toEqual([
      "Your list check is paused",
      "Your list is ready: 0 allow, 1,001 review, 0 block",
    ])
  })

  test("unless they switched such mails off", async () => {
    const opened = await openJane(4)
    await opened.post("/dashboard/account/emails", {})
    await uploadDone(opened, { file: csvFile() })
    await sendMails(opened)
    expect(subjects(opened)).toEqual([])
  })
})

describe("the stream of a list's page", () => {
  test("tells what has changed, and ends when nothing changes any more", async () => {
    const opened = await openSignedIn()
    const { path } = await uploadDone(opened, { file: csvFile() })
    const { html, headers } = await opened.get(`${path}/progress`)
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    expect(html).toStartWith('data: <div data-state="done"')
    expect(html).toEndWith("event: end\ndata:\n\n")
  })

  test("an account has few at the same time, and another page is told to ask by itself", async () => {
    const opened = await openSignedIn()
    await opened.harness.jobs.stop()
    const path = (await upload(opened, { file: csvFile() })).path.replace(/\?.*/, "")
    const ask = () =>
      opened.harness.app(new Request(`http://localhost${path}/progress`, { headers: { Cookie: opened.cookie } }))
    const open: Response[] = []
    for (let n = 0; n < STREAMS_PER_ACCOUNT_MAX; n++) open.push(await ask())
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200))
    expect((await ask()).status).toBe(204)
    await open[0]?.body?.cancel()
    const again = await ask()
    expect(again.status).toBe(200)
    for (const { body } of [...open.slice(1), again]) await body?.cancel()
  })

  test("goes on each second while the list waits, and ends when its server leaves, so that the browser asks the next one", async () => {
    const opened = await openSignedIn()
    await opened.harness.jobs.stop()
    const id = /job_\w+/.exec((await upload(opened, { file: csvFile() })).path)?.[0] ?? ""
    const { accountId, clock, store, time } = opened.harness
    const state = { isDraining: false, endedCount: 0 }
    const stream = progressStream(
      {
        ...{ clock, setTimer: time.later, allowSilence: () => undefined, isDraining: () => state.isDraining },
        jobs: { store, keepHours: 48 },
      },
      new Exchange(new Request("http://localhost"), "req_1", "jobProgress"),
      { accountId, id },
      () => void state.endedCount++,
    )
    const reader = stream.getReader()
    const nextEvent = async (): Promise<string> => {
      const reading = reader.read()
      await time.tick(1000)
      const { value } = await reading
      return value === undefined ? "the end" : new TextDecoder().decode(value)
    }
    expect(await nextEvent()).toContain("It starts as soon as your other lists are checked.")
    expect(await nextEvent()).toBe(":\n\n")
    await store.run("UPDATE jobs SET state = 'running', rows_done = 1 WHERE id = $1", [id])
    state.isDraining = true
    expect(await nextEvent()).toContain("1 of 3 rows")
    expect(await nextEvent()).toBe("the end")
    expect(state.endedCount).toBe(1)
  })
})

test("a check that broke off says at which row", async () => {
  const opened = await openSignedIn()
  const { path } = await uploadDone(opened, { file: csvFile() })
  await opened.harness.store.run("UPDATE jobs SET state = 'failed', reason = 'no_progress', rows_done = 1")
  const { text } = await opened.get(path)
  expect(text).toContain("most likely at row 2, not counting the header.")
  expect(text).toContain("1 of 3 rows checked")
})

describe("a callback", () => {
  const URL_OF_CRM = "https://crm.acme.com/hook"

  test("needs a secret, which is shown once and can be replaced", async () => {
    const opened = await openSignedIn()
    const refused = await opened.postParts(PATH, { callback: URL_OF_CRM, file: csvFile() })
    expect([refused.status, errorAt(refused.html, "callback")]).toEqual([
      400,
      "Callbacks are signed. Make a callback secret first, at the bottom of this page.",
    ])
    expect(refused.html).toContain(URL_OF_CRM)
    const made = await opened.post("/dashboard/callback-secret", {})
    expect(made.text).toMatch(/whsec_\S{44}/)
    const page = await opened.get(PATH)
    expect(page.text).toContain("Replace the callback secret")
    expect(page.html).not.toContain("whsec_")
    expect((await opened.post("/dashboard/callback-secret", {})).text).toContain("Your former secret signs too until")
  })

  test("is refused where it may not go", async () => {
    const opened = await openSignedIn()
    await opened.post("/dashboard/callback-secret", {})
    for (const callback of ["crm", "http://crm.acme.com/", "https://127.0.0.1/"])
      expect(errorAt((await opened.postParts(PATH, { callback, file: csvFile() })).html, "callback")).toMatch(
        /callback/i,
      )
  })

  test("is on the page of its list with what became of it, and is sent again from there", async () => {
    const opened = await openSignedIn()
    const { store } = opened.harness
    await opened.post("/dashboard/callback-secret", {})
    const { path, text } = await upload(opened, { callback: URL_OF_CRM, file: csvFile() })
    expect(text).toContain("None yet.")
    await checkAll(opened)
    const list = path.replace(/\?.*/, "")
    await store.run("UPDATE callbacks SET ending = 'given_up', attempt_count = 9, tried_at_ms = 1, result = '302'")
    const page = await opened.get(list)
    for (const words of ["job.done", "Answered 302: redirects are not followed.", "Given up after the last attempt"])
      expect(page.text).toContain(words)
    const [callback] = await store.all<{ id: string }>("SELECT id FROM callbacks")
    const again = await opened.post(`${list}/send-again`, { callback: callback?.id ?? "" })
    expect((await opened.get(again.redirectPath ?? "")).text).toContain("The callback is sent again.")
    expect(await store.all("SELECT ending, attempt_count FROM callbacks")).toEqual([{ ending: null, attempt_count: 0 }])
    expect((await opened.post(`${list}/send-again`, { callback: "msg_other" })).status).toBe(404)
  })

  test("of another account's list is neither shown nor sent", async () => {
    const opened = await openSignedIn()
    const { store, changes } = opened.harness
    await opened.post("/dashboard/callback-secret", {})
    const { path } = await upload(opened, { callback: URL_OF_CRM, file: csvFile() })
    await checkAll(opened)
    const other = await newAccount(changes, "john@example.com")
    await store.run("UPDATE jobs SET account_id = $1", [other])
    const list = path.replace(/\?.*/, "")
    const [callback] = await store.all<{ id: string }>("SELECT id FROM callbacks")
    expect((await opened.post(`${list}/send-again`, { callback: callback?.id ?? "" })).status).toBe(404)
  })
})
