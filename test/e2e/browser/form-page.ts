import type { BrowserContext, Page } from "playwright-core"
import { FORM_SCRIPT } from "../../../src/http/site/form-script.ts"
import { bounded } from "../../support/bounded.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openBrowser, STEP_MS } from "./browser.ts"

/** A request that a page's script has sent for a check. */
export type Asked = { readonly email: string; readonly policy?: string }

/** A server that has the form script and answers its checks as the test says. */
export type FormServer = {
  readonly url: string
  readonly asked: Asked[]
  answer: (asked: Asked) => Response | Promise<Response>
  readonly stop: () => Promise<void>
}

/** An answer that every page may read. */
export const readable = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After", ...headers },
  })

/** The answer for an address: a typing error in `gmial.com`, else the category that its local part names. */
export const usualAnswer = ({ email }: Asked): Response =>
  readable({
    category: email.startsWith("bin") ? "disposable" : "business",
    recommendation: email.startsWith("bin") ? "block" : email.startsWith("free") ? "review" : "allow",
    did_you_mean: email.endsWith("@gmial.com") ? "gmail.com" : null,
  })

export function formServer(): FormServer {
  const preflight = () =>
    new Response(null, {
      status: 204,
      headers: { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "Authorization, Content-Type" },
    })
  const server: FormServer & { url: string } = {
    url: "",
    asked: [],
    answer: usualAnswer,
    stop: () => listening.stop(true),
  }
  const listening = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async request => {
      if (new URL(request.url).pathname === "/form.js")
        return new Response(FORM_SCRIPT, {
          headers: { "Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*" },
        })
      if (request.method === "OPTIONS") return preflight()
      const asked: Asked = await request.json()
      server.asked.push(asked)
      return await server.answer(asked)
    },
  })
  server.url = `http://127.0.0.1:${listening.port}`
  onTestEnd(server.stop)
  return server
}

/** What the server of a website has got with a form, as text. */
const SENT = "<!doctype html><html lang=en><title>sent</title><main><h1>Sent</h1><pre id=sent>"

/** A website: gives its page for GET with the policy, and shows what a form has sent. */
export function website(
  html: () => string,
  policy: () => string = () => "default-src *",
  headers: Readonly<Record<string, string>> = {},
): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async request => {
      const type = { "Content-Type": "text/html; charset=utf-8" }
      if (request.method === "POST") return new Response(SENT + (await request.text()), { headers: type })
      const path = new URL(request.url).pathname
      if (path === "/page.js")
        return new Response(SCRIPTS.join("\n"), { headers: { "Content-Type": "text/javascript" } })
      return new Response(html(), { headers: { ...type, ...headers, "Content-Security-Policy": policy() } })
    },
  })
  onTestEnd(() => server.stop(true))
  return `http://127.0.0.1:${server.port}`
}

/** Notes every event of the form script in `document.noted`; `document.eventFor` gives the latest of an address, or the next. */
const SCRIPTS = [
  "document.noted = []",
  "const waiting = []",
  "const isOf = ([name, detail], wanted, email) => name === wanted && (detail.email ?? detail.to) === email",
  'for (const name of ["check", "result", "accept", "unchecked"])',
  "  document.addEventListener('mailkind:' + name, ({ detail }) => {",
  "    document.noted.push([name, detail])",
  "    for (const { wanted, email, resolve } of waiting) if (isOf([name, detail], wanted, email)) resolve(detail)",
  "  })",
  "document.eventFor = (wanted, email) => new Promise(resolve => {",
  "  waiting.push({ wanted, email, resolve })",
  "  const past = document.noted.findLast(noted => isOf(noted, wanted, email))",
  "  if (past !== undefined) resolve(past[1])",
  "})",
]

/** A key that has the form of one. */
export const ANY_KEY = `svc_pub_${"A".repeat(38)}`

/** A page with a sign-up form around `fields`. */
export const formPage = (tag: string, fields = EMAIL_FIELD, more = ""): string =>
  `<!doctype html><html lang="en"><head><title>Sign up</title><script src="/page.js"></script>${tag}</head>
<body><main><h1>Sign up</h1><form method="post" action="/sign-up">${fields}<button id="send">Sign up</button></form>${more}</main></body></html>`

export const EMAIL_FIELD = '<label for="email">Email</label><input id="email" name="email" type="email">'

/** The tag of the script on a server. */
export const tagFor = ({ url }: { readonly url: string }, more = "", key = ANY_KEY): string =>
  `<script src="${url}/form.js" data-key="${key}" ${more} defer></script>`

/** Opens a page and collects what its console says. */
export async function openForm(
  context: BrowserContext,
  origin: string,
): Promise<{ readonly page: Page; readonly said: string[] }> {
  const page = await context.newPage()
  page.setDefaultTimeout(STEP_MS)
  const said: string[] = []
  page.on("console", message => said.push(message.text()))
  page.on("pageerror", error => said.push(`thrown: ${error.message}`))
  await page.goto(origin)
  return { page, said }
}

/** What a page is made of: the fields of its form, what follows the form, and a script before the tag. */
type PageParts = {
  readonly fields?: string
  readonly more?: string
  readonly tagMore?: string
  readonly before?: string
  readonly key?: string
  /** Instead of the usual tag. */
  readonly tag?: string
}

/** Opens pages of one website that have the script of a server. */
export async function scriptPages() {
  const server = formServer()
  let html = ""
  const origin = website(
    () => html,
    () => "default-src * 'unsafe-inline'",
  )
  const browser = await openBrowser()
  const open = async ({ fields, more, tagMore = "", before, key, ...parts }: PageParts) => {
    // The first attribute of a name holds: a test of the time-out gives its own.
    const tag = parts.tag ?? tagFor(server, `${tagMore} data-timeout="${STEP_MS}"`, key)
    const first = before === undefined ? "" : `<script>${before}</script>`
    html = formPage(first + tag, fields, more)
    return await openForm(await browser.newContext(), origin)
  }
  return { server, open }
}

/** Types into the field as a person does, and leaves it by the keyboard. */
export async function typeAndLeave(page: Page, text: string, field = "#email"): Promise<void> {
  await page.focus(field)
  await page.keyboard.press("ControlOrMeta+A")
  await page.keyboard.type(text)
  await page.keyboard.press("Tab")
}

/** The next event of this name with a detail that has the email; it may have come already. */
export async function eventFor(page: Page, name: string, email: string): Promise<Record<string, unknown>> {
  const found = page.evaluate<Record<string, unknown>>(
    `document.eventFor(${JSON.stringify(name)}, ${JSON.stringify(email)})`,
  )
  return await bounded(found, () => `there was no ${name} for ${email}`)
}

/** What the website has got, by the names of the fields. */
export async function sentForm(page: Page): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams((await page.locator("#sent").textContent()) ?? ""))
}
