import { type AppOptions, testApp } from "./app.ts"
import { attributesIn, unescapeHtml } from "./open-site.ts"

/** What answers: an app in this process, or a server. It follows no redirect. */
type FetchHandler = (request: Request) => Response | Promise<Response>

type SignInHouse = Pick<Awaited<ReturnType<typeof testApp>>, "app" | "signIn">

type FormFieldMap = Readonly<Record<string, string>>

/** What a browser shows. */
export type BrowserPage = {
  readonly status: number
  readonly headers: Headers
  /** What was asked for. */
  readonly path: string
  /** Where it sends the browser; null: nowhere. */
  readonly redirectPath: string | null
  /** The whole body, whatever it is. */
  readonly html: string
  /** What a person reads of the content. */
  readonly text: string
}

type BrowserOptions = {
  /** The session that it is signed in by, as `Cookie` sends it; empty: it is not. */
  readonly cookie?: string
  /** What it sends with everything. */
  readonly headers?: FormFieldMap
  /** Whether it goes where it is sent. */
  readonly followsRedirects?: boolean
  readonly origin?: string
}

const ORIGIN = "http://localhost"

/** A browser that keeps cookies, opens pages and sends their forms. */
export function createBrowser(
  app: FetchHandler,
  { cookie = "", headers: more = {}, followsRedirects = false, origin = ORIGIN }: BrowserOptions = {},
) {
  const cookies = new Map<string, string>(cookie === "" ? [] : [parseCookie(cookie)])
  const ask = async (path: string, init: RequestInit = {}): Promise<BrowserPage> => {
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const headers = new Headers({ ...more, ...(sent === "" ? {} : { Cookie: sent }) })
    new Headers(init.headers).forEach((value, name) => void headers.set(name, value))
    // What stands behind # is for the browser alone.
    const answer = await app(new Request(`${origin}${path.replace(/#.*$/, "")}`, { ...init, headers }))
    for (const set of answer.headers.getSetCookie()) storeCookie(cookies, set)
    const redirectPath = answer.headers.get("location")
    if (followsRedirects && redirectPath !== null) return await ask(redirectPath)
    const html = await answer.text()
    return { status: answer.status, headers: answer.headers, path, redirectPath, html, text: textOf(html) }
  }
  const post = (path: string, fields: FormFieldMap = {}, headers: FormFieldMap = {}): Promise<BrowserPage> =>
    ask(path, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: origin, ...headers },
      body: new URLSearchParams(fields).toString(),
    })
  return {
    cookie,
    cookies,
    get: (path: string): Promise<BrowserPage> => ask(path),
    /** Posts fields as a form without files does. */
    post,
    /** Posts any text as a body of any type. */
    postText: (path: string, body: string, mediaType: string): Promise<BrowserPage> =>
      ask(path, { method: "POST", headers: { Origin: origin, "Content-Type": mediaType }, body }),
    /** Posts fields and files as a form of parts does. */
    postParts: (path: string, fields: Readonly<Record<string, string | File>>): Promise<BrowserPage> => {
      const parts = new FormData()
      for (const [name, value] of Object.entries(fields)) parts.append(name, value)
      return ask(path, { method: "POST", headers: { Origin: origin }, body: parts })
    },
    /** Fills the form of a page whose button has the label, or its first one, and sends it with all that it holds. */
    submit: (shown: BrowserPage, fields: FormFieldMap = {}, label: string | null = null): Promise<BrowserPage> => {
      const form = label === null ? parseForm(firstForm(shown)) : formIn(shown.html, label)
      return post(form.path, { ...form.fields, ...fields })
    },
    /** Sends a form and shows the page that it leads to. */
    submitAndFollow: async (path: string, fields: FormFieldMap = {}): Promise<BrowserPage> => {
      const { redirectPath, status, text: words } = await post(path, fields)
      if (redirectPath === null) throw new Error(`${status}: ${words}`)
      return await ask(redirectPath)
    },
  }
}

/** A browser that is signed in to an account of the house; absent: the house's own. */
export const signedInBrowser = async ({ app, signIn }: SignInHouse, accountId?: string) =>
  createBrowser(app, { cookie: await signIn(accountId) })

/** A house, and a browser that is signed in to its account. */
export async function openSignedIn(options: AppOptions = {}) {
  const harness = await testApp(options)
  return { harness, ...(await signedInBrowser(harness)) }
}

/** A form as a browser sends it; `origin` null: of nowhere. */
export const formRequest = (
  path: string,
  fields: FormFieldMap,
  cookie: string,
  origin: string | null = ORIGIN,
): Request =>
  new Request(`${ORIGIN}${path}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Cookie: cookie,
      ...(origin === null ? {} : { Origin: origin }),
    },
    body: new URLSearchParams(fields).toString(),
  })

function parseCookie(text: string): [name: string, value: string] {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? []
  return [name, value]
}

function storeCookie(cookies: Map<string, string>, set: string): void {
  const [name, value] = parseCookie(set)
  if (/Max-Age=0/.test(set)) cookies.delete(name)
  else cookies.set(name, value)
}

/** The words of a page's content, or of a part of a page. */
export const textOf = (html: string): string =>
  unescapeHtml((/<main.*<\/main>/s.exec(html)?.[0] ?? html).replaceAll(/<[^>]*>/g, " ").replaceAll("&#39;", "'"))
    .replaceAll(/\s+/g, " ")
    .trim()

/** The paths of all links of a page. */
export const linksIn = (shown: BrowserPage): readonly string[] => attributesIn(shown.html, "href")

/** Where a form is sent, and all that it holds already. */
export type FilledForm = { readonly path: string; readonly fields: Record<string, string> }

/** The form whose button has the label. */
export function formIn(html: string, label: string): FilledForm {
  const forms = html.match(/<form[^>]*>.*?<\/form>/gs) ?? []
  const found = forms.find(form => form.includes(`${label}<`))
  if (found === undefined) throw new Error(`no form says ${label}`)
  return parseForm(found)
}

function firstForm({ html, text: words }: BrowserPage): string {
  const form = /<form class="form".*?<\/form>/s.exec(html)?.[0]
  if (form === undefined) throw new Error(`no form: ${words}`)
  return form
}

/** What is ticked, chosen or written in a form; a radio or a box that is not ticked is not sent. */
function parseForm(form: string): FilledForm {
  const fields: Record<string, string> = {}
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const name = attributeIn(input, "name")
    if (name === "" || (/type="(?:radio|checkbox|file)"/.test(input) && !/\schecked/.test(input))) continue
    fields[name] = attributeIn(input, "value")
  }
  for (const [, select = "", options = ""] of form.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
    const chosen = /<option[^>]*\sselected[^>]*>/.exec(options)?.[0] ?? /<option[^>]*>/.exec(options)?.[0] ?? ""
    fields[attributeIn(select, "name")] = attributeIn(chosen, "value")
  }
  for (const [, area = "", text = ""] of form.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs))
    fields[attributeIn(area, "name")] = unescapeHtml(text)
  return { path: attributeIn(form, "action"), fields }
}

/** The value of an attribute where it is first; empty: it has none. */
const attributeIn = (html: string, name: string): string =>
  unescapeHtml(html.match(new RegExp(`\\s${name}="([^"]*)"`))?.[1] ?? "")

/** The value of the first field of a name in a page; empty where there is none. */
export const fieldIn = (html: string, name: string): string =>
  attributeIn((html.match(/<input[^>]*>/g) ?? []).find(input => input.includes(` name="${name}"`)) ?? "", "value")

/** The key that a page shows; null: none. */
export const keyIn = (html: string): string | null => html.match(/svc_(?:live|pub)_[0-9A-Za-z]{38}/)?.[0] ?? null

/** The sentence that says what is wrong with a field; empty where nothing is. */
export const errorAt = (html: string, field: string): string =>
  textOf(html.match(new RegExp(`<p [^>]*id="${field}-fault"[^>]*>(.*?)</p>`, "s"))?.[1] ?? "")

/** The ids of a page that stand on several elements. */
export function repeatedIds(html: string): string[] {
  const ids = attributesIn(html, "id")
  return ids.filter((id, at) => ids.indexOf(id) !== at)
}

/** The link and the code of a mail that signs in; the link as a path. */
export function signInMailParts(mail: { readonly text: string } | undefined): {
  readonly link: string
  readonly code: string
} {
  const link = /^http\S+$/m.exec(mail?.text ?? "")?.[0] ?? ""
  return { link: link.replace(/^https?:\/\/[^/]*/, ""), code: /^ {4}(\d{6})$/m.exec(mail?.text ?? "")?.[1] ?? "" }
}
