import { expect, test } from "bun:test"
import { text } from "node:stream/consumers"
import type { Page } from "playwright-core"
import { type ServerProcess, serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { BROWSER_TEST_MS, IN_A_BROWSER, isBrowserMissing, openBrowser, watchedPage } from "./browser.ts"

/** A user who has a keyboard and nothing else. */
type Keyboard = {
  /** Moves the focus on until it is on the control with this name, seeing at each stop where it is. */
  readonly tabTo: (name: RegExp) => Promise<void>
  /** The same, backwards. */
  readonly tabBackTo: (name: RegExp) => Promise<void>
  readonly press: (key: string) => Promise<void>
  readonly type: (text: string) => Promise<void>
  /** Presses a key on the focused control, and waits for the page that it leads to. */
  readonly pressAndLoad: (key: string) => Promise<void>
}

/** How many stops a page may have between the focus and a control. */
const STOPS_MAX = 120

function keyboardOf(page: Page): Keyboard {
  const move = async (key: string, name: RegExp): Promise<void> => {
    const passed: string[] = []
    while (passed.length < STOPS_MAX) {
      await page.keyboard.press(key)
      const stop = await page.evaluate<Stop>(STOP)
      if (!stop.isSeen) throw new Error(`the focus cannot be seen on ${JSON.stringify(stop)} of ${page.url()}`)
      if (name.test(stop.name)) return
      passed.push(stop.name)
    }
    throw new Error(`${name} is not reached on ${page.url()}: ${passed.join(" → ")}`)
  }
  return {
    tabTo: name => move("Tab", name),
    tabBackTo: name => move("Shift+Tab", name),
    press: key => page.keyboard.press(key),
    type: text => page.keyboard.type(text),
    pressAndLoad: async key => {
      await Promise.all([page.waitForEvent("load"), page.keyboard.press(key)])
    },
  }
}

/** Where the focus is. */
type Stop = { readonly name: string; readonly isSeen: boolean }

/** The focused element: it has an outline, itself or its label, and a part of it is on the screen below the header. */
const STOP = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body) return { name: "", isSeen: true }
  const label = element.labels?.[0]
  const name = label?.textContent ?? element.getAttribute("aria-label") ?? element.textContent ?? ""
  const isOutlined = [element, label, element.closest(".ask-row")].some(one => {
    const style = one && getComputedStyle(one)
    return style && style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2
  })
  const isHidden = one => one.getBoundingClientRect().width < 2
  const { top, bottom, left, right } = (isHidden(element) && label ? label : element).getBoundingClientRect()
  const header = element.closest(".top, .skip") === null ? document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0 : 0
  const isOnScreen = Math.min(bottom, innerHeight) - Math.max(top, header) > 4 && right > 0 && left < innerWidth
  return { name: name.replace(/\\s+/g, " ").trim(), isSeen: isOutlined && isOnScreen }
})()`

const EMAIL = "nora@example.com"

/** A newcomer in front of the first page. */
type Newcomer = {
  readonly page: Page
  readonly keyboard: Keyboard
  readonly server: ServerProcess
  readonly hasScript: boolean
  readonly faults: readonly string[]
}

async function newcomer(hasScript: boolean): Promise<Newcomer> {
  const [browser, server] = await Promise.all([openBrowser(), serverProcess()])
  onTestEnd(server.stop)
  const context = await browser.newContext({
    javaScriptEnabled: hasScript,
    viewport: { width: hasScript ? 1280 : 390, height: 844 },
  })
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url })
  const { page, faults } = await watchedPage(context, server.url)
  await page.goto(`${server.url}/`)
  return { page, keyboard: keyboardOf(page), server, hasScript, faults }
}

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>("document.activeElement === document.body ? '' : document.activeElement.textContent")

/** What came of the form: it is on the page as a status, and with a script it has the focus. */
async function expectOutcome({ page, hasScript }: Newcomer, words: RegExp): Promise<void> {
  expect(await page.locator(".page [role=status]").first().textContent()).toMatch(words)
  if (hasScript) expect(await focused(page)).toMatch(words)
}

async function checkAnAddress(visitor: Newcomer): Promise<void> {
  const { page, keyboard } = visitor
  await keyboard.tabTo(/^Email address, domain or website/)
  await keyboard.type("jane@mailinator.com")
  await keyboard.pressAndLoad("Enter")
  expect(await page.title()).toStartWith("Block")
  expect(await page.locator("#verdict").evaluate(element => element.matches(":focus"))).toBe(true)
  expect(await page.locator("#verdict [role=status]").textContent()).toContain("Disposable")
}

async function signUp(visitor: Newcomer): Promise<void> {
  const { page, keyboard, server } = visitor
  await keyboard.tabBackTo(/^Get a free key$/)
  await keyboard.pressAndLoad("Enter")
  await keyboard.tabTo(/^Email address/)
  await keyboard.type(EMAIL)
  await keyboard.pressAndLoad("Enter")
  const log = await server.logged(/\bcode\W+\d{6}\b/)
  await keyboard.tabTo(/^Code/)
  await keyboard.type("12")
  await keyboard.pressAndLoad("Enter")
  expect(await page.locator("[role=alert]").textContent()).toContain("6 digits")
  if (visitor.hasScript) expect(await page.getByLabel("Code").evaluate(field => field.matches(":focus"))).toBe(true)
  else await keyboard.tabTo(/^Code/)
  await keyboard.press("ControlOrMeta+a")
  await keyboard.type(/\bcode\W+(\d{6})\b/.exec(log)?.[1] ?? "")
  await keyboard.pressAndLoad("Enter")
  await expectOutcome(visitor, /Account created/)
}

/** Creates a key of one's own and gives its text. */
async function createKey({ page, keyboard, hasScript }: Newcomer): Promise<string> {
  await keyboard.tabTo(/^Open your dashboard$/)
  await keyboard.pressAndLoad("Enter")
  await keyboard.tabTo(/^Keys$/)
  await keyboard.pressAndLoad("Enter")
  await keyboard.tabTo(/^New key$/)
  await keyboard.pressAndLoad("Enter")
  await keyboard.tabTo(/^Name$/)
  await keyboard.type("Shop server")
  await keyboard.tabTo(/^Secret/)
  await keyboard.press("ArrowDown")
  await keyboard.press("ArrowUp")
  await keyboard.tabTo(/^Create key$/)
  await keyboard.pressAndLoad("Enter")
  const key = (await page.locator(".secret .copied").textContent()) ?? ""
  if (hasScript) {
    await keyboard.tabTo(/^Copy key$/)
    await keyboard.press("Enter")
    await page.locator("body > [aria-live]", { hasText: "Copied." }).waitFor({ state: "attached" })
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(key)
    expect(await focused(page)).toStartWith("Copied")
  }
  return key
}

/** Makes the first call while the overview is open, which notices it. */
async function firstCall({ page, keyboard, server, hasScript }: Newcomer, key: string): Promise<void> {
  if (hasScript) await page.clock.install()
  await keyboard.tabTo(/^Overview$/)
  await keyboard.pressAndLoad("Enter")
  if (hasScript) {
    await keyboard.tabTo(/^Copy Command$/)
    await keyboard.press("Enter")
  }
  const { body } = await server.ask("POST /v1/check", { key, body: { email: "jane@gmail.com" } })
  expect(body["category"]).toBe("personal")
  if (hasScript) {
    await page.clock.runFor(6000)
    await page.getByText("Your first request arrived.").waitFor()
    // The focus was in what was replaced.
    expect(await focused(page)).toBe("Get started")
    expect(await page.locator("#figures time[data-exact]").textContent()).toMatch(/^at 00:00 UTC$/)
  } else await page.reload()
  expect(await page.locator(".steps [aria-current]").textContent()).toContain("Protect a form")
}

async function blockDomain(visitor: Newcomer): Promise<void> {
  const { page, keyboard } = visitor
  // The links of the account stand before the content.
  await page.goto(`${visitor.server.url}/dashboard`)
  await keyboard.tabTo(/^Block & allow$/)
  await keyboard.pressAndLoad("Enter")
  await keyboard.tabTo(/^Address or domain$/)
  await keyboard.type("spam.example.com")
  await keyboard.tabTo(/^Note/)
  await keyboard.type("Sends <b>spam</b>")
  await keyboard.tabTo(/^Add$/)
  await keyboard.pressAndLoad("Enter")
  await expectOutcome(visitor, /1 entry/)
  expect(await page.locator("tbody td bdi").first().textContent()).toBe("Sends <b>spam</b>")
  await keyboard.tabTo(/^Download CSV/)
  const [download] = await Promise.all([page.waitForEvent("download"), keyboard.press("Enter")])
  expect(await text(await download.createReadStream())).toContain("Sends <b>spam</b>")
}

async function switchMailOff(visitor: Newcomer): Promise<void> {
  const { page, keyboard } = visitor
  await page.goto(`${visitor.server.url}/dashboard`)
  await keyboard.tabTo(/^Account$/)
  await keyboard.pressAndLoad("Enter")
  await keyboard.tabTo(/^Key expires soon/)
  await keyboard.press("Space")
  await keyboard.tabTo(/^Save emails$/)
  await keyboard.pressAndLoad("Enter")
  await expectOutcome(visitor, /saved/)
  expect(await page.getByRole("checkbox").first().isChecked()).toBe(false)
}

async function signOut({ page, keyboard, server }: Newcomer): Promise<void> {
  await page.goto(`${server.url}/dashboard`)
  await keyboard.tabTo(/^Account menu of/)
  await keyboard.press("Enter")
  await keyboard.tabTo(/^Sign out$/)
  await keyboard.pressAndLoad("Enter")
  await page.goto(`${server.url}/dashboard`)
  expect(new URL(page.url()).pathname).toBe("/sign-in")
}

for (const hasScript of [true, false])
  test.skipIf(isBrowserMissing)(
    `${IN_A_BROWSER}, a newcomer comes from the home page to the first call by keyboard alone${hasScript ? "" : ", without a script"}`,
    async () => {
      const visitor = await newcomer(hasScript)
      await checkAnAddress(visitor)
      await signUp(visitor)
      const key = await createKey(visitor)
      await firstCall(visitor, key)
      await blockDomain(visitor)
      await switchMailOff(visitor)
      await signOut(visitor)
      expect(visitor.faults).toEqual([])
    },
    BROWSER_TEST_MS,
  )

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, the keyboard leads to a request of the API reference, and each stop on the way can be seen`,
  async () => {
    const { page, keyboard, server, faults } = await newcomer(true)
    await page.goto(`${server.url}/docs`, { waitUntil: "networkidle" })
    await keyboard.tabTo(/^Check an address$/)
    await keyboard.press("Enter")
    await page.waitForURL(/\/docs\/api\//)
    expect(faults).toEqual([])
  },
  BROWSER_TEST_MS,
)
