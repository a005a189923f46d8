import { expect, test } from "bun:test"
import { buffer } from "node:stream/consumers"
import type { Browser } from "playwright-core"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { until } from "../../support/until.ts"
import {
  BROWSER_TEST_MS,
  IN_A_BROWSER,
  isBrowserMissing,
  openBrowser,
  pageFaults,
  type WatchedPage,
  watchedPage,
} from "./browser.ts"
import { signedIn } from "./signed-in.ts"

const DOMAINS = ["gmail.com", "mailinator.com", "mit.edu", "stripe.com", "duck.com", "nothing"]

const JANE = "jane@example.com"

/** A file with so many rows, whose name would be more than text in a page. */
function listFile(rows: number) {
  const lines = Array.from({ length: rows }, (_, n) => `${n},"Doe, Jane",jane${n}@${DOMAINS[n % DOMAINS.length]},=1+1`)
  const buffer = Buffer.from(`id,name,work address,note\n${lines.join("\n")}\n`)
  return { name: "customers <b>2026.csv", mimeType: "text/csv", buffer }
}

/** A server, and a page that is signed in to an account with units for lists. */
async function openLists(): Promise<{ server: ServerProcess; browser: Browser; watched: WatchedPage }> {
  const [browser, server] = await Promise.all([openBrowser(), serverProcess()])
  onTestEnd(server.stop)
  await server.run("account", "create", JANE, "--tier", "2")
  const watched = await signedIn(await browser.newContext({ viewport: { width: 390, height: 844 } }), server, JANE)
  return { server, browser, watched }
}

/** The whole way of a list with a script: its first rows, its cost, its check, its results, its end. */
async function goTheWholeWay(watched: WatchedPage, { url }: ServerProcess, rows: number): Promise<void> {
  const { page } = watched
  const fit = async (name: string) => expect(await pageFaults(watched, name)).toEqual([])
  await page.goto(`${url}/dashboard`)
  await page.getByRole("link", { name: "Check a list", exact: true }).click()
  await page.getByRole("heading", { name: "Check a list", level: 1 }).waitFor()
  await fit("lists-empty")
  await page.getByLabel("Choose a file").setInputFiles(listFile(rows))
  const preview = page.locator("#preview")
  await page.getByText("Costs ").waitFor()
  // A preview costs one unit.
  const cost = `Costs ${rows.toLocaleString("en")} units. 249,999 left today.`
  expect(await page.locator("#send").textContent()).toContain(cost)
  expect(await preview.textContent()).toContain("CSV, comma, UTF-8 · header in line 1 · column work address")
  expect(await page.getByRole("radio", { name: "work address" }).isChecked()).toBe(true)
  await fit("lists-preview")
  await page.getByRole("button", { name: `Check ${rows.toLocaleString("en")} rows` }).click()
  await page.waitForURL(/\/dashboard\/jobs\/job_\w+/)
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("customers <b>2026.csv")
  if (rows > 20_000) await fit("list-running")
  await page.locator("[data-state=done]").waitFor({ timeout: 240_000 })
  expect(await page.locator("#progress").textContent()).toContain(`${rows.toLocaleString("en")} rows checked in`)
  await page.locator("#progress").getByText("Will be deleted on").waitFor()
  await fit("list-done")
  const all = await download(watched, `Download all ${rows.toLocaleString("en")}`)
  expect(all.trim().split("\n")).toHaveLength(rows + 1)
  expect(all).toStartWith("\ufeffid,")
  expect(all).toContain(`"Doe, Jane",jane1@mailinator.com,'=1+1,disposable,`)
  await page.getByLabel("Make it safe to open in Excel").uncheck()
  const blocked = (await download(watched, "Download blocked rows")).trim().split("\n")
  expect(blocked.length).toBeGreaterThan(rows / DOMAINS.length)
  expect(blocked.slice(1).every(row => row.includes(",=1+1,") && row.includes(",block,"))).toBe(true)
  await page.goto(`${url}/dashboard/jobs`)
  await fit("lists-one")
  await page.getByRole("link", { name: "customers" }).click()
  await page.getByRole("link", { name: "Delete now" }).click()
  await page.getByText("You cannot undo this.").waitFor()
  await fit("list-deletion")
  await page.getByRole("button", { name: "Delete the list" }).click()
  await page.getByText("The list and its results are deleted.").waitFor()
  await page.getByText("No lists yet.").waitFor()
  expect(watched.faults).toEqual([])
}

async function download({ page }: WatchedPage, button: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()])
  return (await buffer(await file.createReadStream())).toString()
}

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a list of some thousand rows is looked at, checked, watched, downloaded and deleted on a phone`,
  async () => {
    const { watched, server } = await openLists()
    await goTheWholeWay(watched, server, 3000)
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, all of it works without a script`,
  async () => {
    const { watched, server, browser } = await openLists()
    const storageState = await watched.page.context().storageState()
    const context = await browser.newContext({ javaScriptEnabled: false, storageState })
    const { page } = await watchedPage(context, server.url)
    await page.goto(`${server.url}/dashboard/jobs`)
    const [file, preview] = [page.getByLabel("Choose a file"), page.getByRole("button", { name: "Preview" })]
    await file.setInputFiles(listFile(2000))
    await page.getByText("Options", { exact: true }).click()
    await page.getByLabel("Name", { exact: true }).fill("Customers")
    await page.getByLabel("Column", { exact: true }).fill("work address")
    await preview.click()
    await page.getByText("2,000 units").waitFor()
    await page.getByText("Choose the file again first:").waitFor()
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Customers")
    await page.getByLabel("Lines above the header").fill("1")
    await file.setInputFiles({ ...listFile(1), buffer: Buffer.from(`Report\n${listFile(2000).buffer}`) })
    await preview.click()
    await page.getByText("header in line 2").waitFor()
    await file.setInputFiles(listFile(2000))
    await page.getByLabel("Lines above the header").fill("")
    await page.getByRole("button", { name: "Check 2,000 rows" }).click()
    await page.getByRole("heading", { name: "Customers", level: 1 }).waitFor()
    while ((await page.locator("[data-state=done]").count()) === 0)
      await page.getByRole("link", { name: "Refresh" }).click()
    const [results] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download blocked rows" }).click(),
    ])
    expect(results.suggestedFilename()).toMatch(/^mailkind-\w+-block\.csv$/)
    await page.getByRole("link", { name: "Delete now" }).click()
    await page.getByRole("button", { name: "Delete the list" }).click()
    await page.getByText("No lists yet.").waitFor()
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a list that cannot be read stays in the form, which says why`,
  async () => {
    const { watched, server } = await openLists()
    const { page } = watched
    await page.goto(`${server.url}/dashboard/jobs`)
    const bytes = Buffer.from("one,two\n1,2\n")
    await page.getByLabel("Choose a file").setInputFiles({ name: "numbers.csv", mimeType: "text/csv", buffer: bytes })
    await page.locator("#reading [role=alert]").getByText("The columns are").waitFor()
    expect(await page.evaluate("document.activeElement.id")).toBe("column")
    await page.getByLabel("Check it anyway").check()
    await page.getByLabel("Column", { exact: true }).selectOption({ label: "2. two" })
    await page.getByRole("button", { name: "Check 1 row" }).click()
    await page.waitForURL(/\/dashboard\/jobs\/job_\w+/)
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the page of a list reads itself again where no stream is to be had`,
  async () => {
    const { watched, server } = await openLists()
    const { page } = watched
    await page.route(/\/progress$/, route => route.fulfill({ status: 204 }))
    await page.goto(`${server.url}/dashboard/jobs`)
    await page.getByLabel("Choose a file").setInputFiles(listFile(20_000))
    await page.getByRole("button", { name: "Check 20,000 rows" }).click()
    await page.waitForURL(/\/dashboard\/jobs\/job_\w+/)
    await page.locator("[data-state=done]").waitFor()
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, addresses that are pasted on the page are a list, but not those that are pasted into a field`,
  async () => {
    const { watched, server } = await openLists()
    const { page } = watched
    await page.goto(`${server.url}/dashboard/jobs`)
    const pasteInto = (selector: string) =>
      page.evaluate(`(() => {
        const clipboardData = new DataTransfer()
        clipboardData.setData("text/plain", "jane@gmail.com\\njoe@mailinator.com\\n")
        document.querySelector("${selector}").dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }))
      })()`)
    await pasteInto("#pasted")
    expect(await page.evaluate("document.querySelector('#file').files.length")).toBe(0)
    await pasteInto("main")
    await page.locator("#send").getByText("Costs 2 units.").waitFor()
    await page.getByRole("button", { name: "Check 2 rows" }).click()
    await page.getByRole("heading", { name: "Pasted addresses", level: 1 }).waitFor()
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

/** An export with notes above its header, in an old encoding, with cells to clean and to skip, and two columns of addresses. */
const EXPORT = `Notes:
From our CRM

Name;Work email;Home email;Note
J\u00fcrgen;J\u00fcrgen <juergen@acme.com>;j@gmail.com;1,5
Al;n/a;al@gmail.com;2
Joe;mailto:joe@mailinator.com;joe@gmail.com;=1+1
Ada;"ada@acme.com; bob@acme.com";ada@gmail.com;<b>3</b>
`

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a dropped file is previewed, read in another way, previewed again and checked so`,
  async () => {
    const { watched, server } = await openLists()
    const { page } = watched
    await page.goto(`${server.url}/dashboard/jobs`)
    const dropped = await page.evaluateHandle(`(() => {
      const bytes = Uint8Array.from(${JSON.stringify(EXPORT)}, char => char.charCodeAt(0))
      const transfer = new DataTransfer()
      transfer.items.add(new File([bytes], "export.csv"))
      return transfer
    })()`)
    await page.dispatchEvent(".drop", "drop", { dataTransfer: dropped })
    const [preview, column] = [page.locator("#preview"), page.getByLabel("Column", { exact: true })]
    await page.locator("#reading [role=alert]").getByText("2 columns have addresses").waitFor()
    expect(await pageFaults(watched, "lists-several-columns")).toEqual([])
    await column.selectOption({ label: "2. Work email" })
    await preview.getByText("juergen@acme.com").first().waitFor()
    for (const words of ["Windows-1252", "header in line 4", "1 empty", "3 cleaned", "J\u00fcrgen", "Home email"])
      expect(await preview.textContent()).toContain(words)
    expect(await pageFaults(watched, "lists-preview-export")).toEqual([])
    await page.getByLabel("Encoding").selectOption("windows-1250")
    await preview.getByText("Windows-1250").waitFor()
    await page.getByRole("radio", { name: "Home email" }).check()
    await preview.getByText("column Home email").waitFor()
    expect(await page.getByLabel("Encoding").inputValue()).toBe("windows-1250")
    expect(await page.evaluate("document.activeElement.value")).toBe("3")
    await page.getByRole("radio", { name: "Work email" }).check()
    await preview.getByText("column Work email").waitFor()
    await page.getByRole("button", { name: "Check 4 rows" }).click()
    await page.locator("[data-state=done]").waitFor()
    for (const words of ["Skipped", "Cleaned", "Several addresses"])
      expect(await page.locator("#progress").textContent()).toContain(words)
    expect(await pageFaults(watched, "list-cleaned")).toEqual([])
    const all = await download(watched, "Download all 4")
    expect(all).toStartWith("\ufeffNotes:\n")
    expect(all).toContain("Joe;mailto:joe@mailinator.com;joe@gmail.com;'=1+1;disposable;")
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a callback is asked for, its secret is made, and what became of it is on the page of the list`,
  async () => {
    const { watched, server } = await openLists()
    const { page } = watched
    const fit = async (name: string) => expect(await pageFaults(watched, name)).toEqual([])
    await page.goto(`${server.url}/dashboard/jobs`)
    const askForCallback = async (): Promise<void> => {
      await page.getByLabel("Choose a file").setInputFiles(listFile(20))
      await page.getByText("Costs ").waitFor()
      await page.getByText("Options", { exact: true }).click()
      await page.getByLabel("Callback URL").fill("https://crm.acme.com/mailkind")
    }
    await askForCallback()
    await page.getByRole("button", { name: "Check 20 rows" }).click()
    await page.getByText("Make a callback secret first").waitFor()
    expect(await page.getByLabel("Callback URL").inputValue()).toBe("https://crm.acme.com/mailkind")
    await page.getByText("Callback secret", { exact: true }).click()
    await page.getByRole("button", { name: "Create a callback secret" }).click()
    await page.getByText("you cannot see it again").waitFor()
    expect(await page.locator(".secret code").textContent()).toMatch(/^whsec_\S{44}$/)
    await fit("callback-secret")
    await page.getByRole("link", { name: "Back to your lists" }).click()
    await askForCallback()
    await fit("lists-callback")
    await page.getByRole("button", { name: "Check 20 rows" }).click()
    await page.locator("[data-state=done]").waitFor()
    // No name can be resolved here.
    await until(
      async () => {
        await page.reload()
        return (await page.getByText("The name cannot be resolved.").count()) > 0
      },
      () => "no callback was tried",
    )
    await fit("list-callbacks")
    await page.getByRole("button", { name: "Send again" }).click()
    await page.getByText("The callback is sent again.").waitFor()
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)
