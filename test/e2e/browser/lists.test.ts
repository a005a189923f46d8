import { expect, test } from "bun:test"
import { text } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
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
  await page.getByRole("link", { name: "Lists", exact: true }).click()
  await page.getByRole("heading", { name: "Lists", level: 1 }).waitFor()
  await fit("lists-empty")
  await page.getByLabel("File").setInputFiles(listFile(rows))
  const preview = page.locator("#preview")
  await preview.getByText("jane0@gmail.com").waitFor()
  expect(await preview.textContent()).toContain("The first rows of 4 columns. “work address” is checked:")
  await page.getByText("How the file is read").click()
  expect(await page.getByLabel("Column", { exact: true }).inputValue()).toBe("work address")
  await page.getByRole("button", { name: "What it costs" }).click()
  await page.locator("#estimate").getByText("Different domains").waitFor()
  const cost = await page.locator("#estimate").textContent()
  // To ask costs one unit.
  for (const words of [rows.toLocaleString("en"), `${rows.toLocaleString("en")} units`, "249,999 units"])
    expect(cost).toContain(words)
  await fit("lists-cost")
  await page.getByRole("button", { name: "Check the list" }).click()
  await page.waitForURL(/\/dashboard\/jobs\/job_\w+/)
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("customers <b>2026.csv")
  if (rows > 20_000) await fit("list-running")
  await page.locator("[data-state=done]").waitFor({ timeout: 240_000 })
  expect(await page.locator("#progress").textContent()).toContain(rows.toLocaleString("en"))
  await page.locator("#list-facts").getByText("Deleted by itself").waitFor()
  await fit("list-done")
  const all = await download(watched, "Download all rows")
  expect(all.trim().split("\n")).toHaveLength(rows + 1)
  expect(all).toContain('"Doe, Jane",jane1@mailinator.com,=1+1,disposable,')
  await page.getByLabel("For a spreadsheet").check()
  const blocked = (await download(watched, "Only blocked")).trim().split("\n")
  expect(blocked.length).toBeGreaterThan(rows / DOMAINS.length)
  expect(blocked.slice(1).every(row => row.includes(",'=1+1,") && row.includes(",block,"))).toBe(true)
  await page.goto(`${url}/dashboard/jobs`)
  await fit("lists-one")
  await page.getByRole("link", { name: "customers" }).click()
  await page.getByRole("link", { name: "Delete this list" }).click()
  await page.getByText("You cannot undo this.").waitFor()
  await fit("list-deletion")
  await page.getByRole("button", { name: "Delete the list" }).click()
  await page.getByText("The list and its results are deleted.").waitFor()
  await page.getByText("You have no lists yet.").waitFor()
  expect(watched.faults).toEqual([])
}

async function download({ page }: WatchedPage, button: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()])
  return await text(await file.createReadStream())
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
    await page.getByLabel("Name", { exact: true }).fill("Customers")
    await page.getByText("How the file is read").click()
    await page.getByLabel("Column", { exact: true }).fill("work address")
    await page.getByLabel("File").setInputFiles(listFile(2000))
    await page.getByRole("button", { name: "What it costs" }).click()
    await page.getByText("2,000 units").waitFor()
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Customers")
    await page.getByLabel("File").setInputFiles(listFile(2000))
    await page.getByRole("button", { name: "Check the list" }).click()
    await page.getByText("The list is uploaded").waitFor()
    while ((await page.locator("[data-state=done]").count()) === 0)
      await page.getByRole("link", { name: "Refresh" }).click()
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Only blocked" }).click(),
    ])
    expect(file.suggestedFilename()).toMatch(/^mailkind-\w+-block\.csv$/)
    await page.getByRole("link", { name: "Delete this list" }).click()
    await page.getByRole("button", { name: "Delete the list" }).click()
    await page.getByText("You have no lists yet.").waitFor()
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
    await page.getByLabel("File").setInputFiles({ name: "numbers.csv", mimeType: "text/csv", buffer: bytes })
    await page.getByRole("button", { name: "Check the list" }).click()
    await page.locator("#estimate [role=alert]").getByText("No column is named like").waitFor()
    expect(await page.getByLabel("Column", { exact: true }).isVisible()).toBe(true)
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
    await page.getByLabel("File").setInputFiles(listFile(20_000))
    await page.getByRole("button", { name: "Check the list" }).click()
    await page.waitForURL(/\/dashboard\/jobs\/job_\w+/)
    await page.locator("[data-state=done]").waitFor()
    expect(watched.faults).toEqual([])
  },
  BROWSER_TEST_MS,
)

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a dropped file shows its first rows like a chosen one, and a compressed one too`,
  async () => {
    const { watched, server } = await openLists()
    const { page } = watched
    await page.goto(`${server.url}/dashboard/jobs`)
    const dropped = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['{"website":"acme.com","n":1}\\n{"website":"stripe.com","n":2}\\n'], "sites.ndjson"))
      return transfer
    })()`)
    await page.dispatchEvent("#list-form", "drop", { dataTransfer: dropped })
    await page.locator("#preview").getByRole("cell", { name: "stripe.com", exact: true }).waitFor()
    expect(await page.locator("#column").inputValue()).toBe("website")
    const buffer = gzipSync("first;e-mail\n<b>Jane</b>;jane@acme.com\n")
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "people.csv.gz", mimeType: "application/gzip", buffer })
    await page.locator("#preview").getByText("<b>Jane</b>").waitFor()
    expect(await page.locator("#column").inputValue()).toBe("e-mail")
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
    await page.getByText("Callback", { exact: true }).click()
    await page.getByLabel("Callback URL").fill("https://crm.acme.com/mailkind")
    await page.getByLabel("File").setInputFiles(listFile(20))
    await page.getByRole("button", { name: "Check the list" }).click()
    await page.getByText("Make a callback secret first").waitFor()
    await page.getByRole("button", { name: "Make a callback secret" }).click()
    await page.getByText("you cannot see it again").waitFor()
    expect(await page.locator(".secret code").textContent()).toMatch(/^whsec_\S{44}$/)
    await fit("callback-secret")
    await page.getByRole("link", { name: "All lists" }).click()
    await page.getByText("Callback", { exact: true }).click()
    await page.getByLabel("Callback URL").fill("https://crm.acme.com/mailkind")
    await page.getByLabel("File").setInputFiles(listFile(20))
    await fit("lists-callback")
    await page.getByRole("button", { name: "Check the list" }).click()
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
