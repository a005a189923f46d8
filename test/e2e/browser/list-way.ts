import { expect } from "bun:test"
import { text } from "node:stream/consumers"
import type { Browser } from "playwright-core"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openBrowser, pageFaults, type WatchedPage } from "./browser.ts"
import { signedIn } from "./signed-in.ts"

const DOMAINS = ["gmail.com", "mailinator.com", "mit.edu", "stripe.com", "duck.com", "nothing"]

const JANE = "jane@example.com"

/** A file with so many rows, whose name would be more than text in a page. */
export function listFile(rows: number) {
  const lines = Array.from({ length: rows }, (_, n) => `${n},"Doe, Jane",jane${n}@${DOMAINS[n % DOMAINS.length]},=1+1`)
  const buffer = Buffer.from(`id,name,work address,note\n${lines.join("\n")}\n`)
  return { name: "customers <b>2026.csv", mimeType: "text/csv", buffer }
}

/** A server, and a page that is signed in to an account with units for lists. */
export async function openLists(): Promise<{ server: ServerProcess; browser: Browser; watched: WatchedPage }> {
  const [browser, server] = await Promise.all([openBrowser(), serverProcess()])
  onTestEnd(server.stop)
  await server.run("account", "create", JANE, "--tier", "2")
  const watched = await signedIn(await browser.newContext({ viewport: { width: 390, height: 844 } }), server, JANE)
  return { server, browser, watched }
}

/** The whole way of a list with a script: its first rows, its cost, its check, its results, its end. */
export async function goTheWholeWay(watched: WatchedPage, { url }: ServerProcess, rows: number): Promise<void> {
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
