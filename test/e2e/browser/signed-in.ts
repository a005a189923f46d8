import type { BrowserContext } from "playwright-core"
import type { ServerProcess } from "../../contract/server-process.ts"
import { type WatchedPage, watchedPage } from "./browser.ts"

/** Opens a page and signs it in, by the link that a server without a mail server writes to its log. */
export async function signedIn(context: BrowserContext, server: ServerProcess, email: string): Promise<WatchedPage> {
  const watched = await watchedPage(context, server.url)
  const { page } = watched
  await page.goto(`${server.url}/sign-in`)
  const linkCount = linksIn(await server.logged(/^/)).length
  await page.getByLabel("Email address").fill(email)
  await page.locator("main form button").first().click()
  await page.getByLabel("Code").waitFor()
  const links = linksIn(await server.logged(new RegExp(`(?:${LINK.source}[^]*){${linkCount + 1}}`)))
  await page.goto(links.at(-1) ?? "")
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.waitForURL(url => !url.pathname.startsWith("/sign-in") || url.pathname.endsWith("/link"))
  return watched
}

const LINK = /http:\/\/[^\s"]+\/sign-in\/link\?token=\w+/
const linksIn = (log: string): readonly string[] => log.match(new RegExp(LINK, "g")) ?? []
