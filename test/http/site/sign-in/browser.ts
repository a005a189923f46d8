import { attributes, unescaped } from "../open-site.ts"

type App = (request: Request) => Response | Promise<Response>

/** What a browser of a test shows. */
export type Shown = {
  readonly status: number
  readonly path: string
  readonly html: string
  /** What a person reads. */
  readonly text: string
  readonly headers: Headers
}

/** A browser that keeps cookies, follows redirects and sends the forms of pages. */
export function browser(app: App, more: Readonly<Record<string, string>> = {}) {
  const cookies = new Map<string, string>()
  const ask = async (path: string, init: RequestInit = {}): Promise<Shown> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const headers = new Headers({ ...more, ...(cookie === "" ? {} : { Cookie: cookie }) })
    new Headers(init.headers).forEach((value, name) => void headers.set(name, value))
    const answer = await app(new Request(`http://localhost${path}`, { ...init, headers }))
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/Max-Age=0/.test(set)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = answer.headers.get("location")
    if (location !== null) return await ask(location)
    const html = await answer.text()
    return { status: answer.status, path, html, text: textOf(html), headers: answer.headers }
  }
  const send = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    ask(path, {
      method: "POST",
      body: new URLSearchParams(fields).toString(),
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Origin: "http://localhost",
        ...headers,
      },
    })
  return {
    cookies,
    ask,
    send,
    /** Fills the one form in a page's content and sends it with what it holds already. */
    submit: (shown: Shown, fields: Readonly<Record<string, string>> = {}) => {
      const form = /<form class="form" method="post" action="([^"]*)">(.*?)<\/form>/s.exec(shown.html)
      if (form === null) throw new Error(`no form: ${shown.text}`)
      const held = [...(form[2] ?? "").matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
      const values = held.map(([, name = "", value = ""]) => [name, unescaped(value)] as const)
      return send(unescaped(form[1] ?? ""), { ...Object.fromEntries(values), ...fields })
    },
  }
}

/** The paths of all links of a page. */
export const linksOf = (shown: Shown): readonly string[] => attributes(shown.html, "href")

const textOf = (html: string): string =>
  unescaped(
    html
      .replace(/^.*<main/s, "<main")
      .replace(/<footer.*$/s, "")
      .replace(/<[^>]*>/g, " "),
  )
    .replace(/\s+/g, " ")
    .trim()

/** The link and the code of a mail. */
export function partsOf(mail: { readonly text: string } | undefined): { readonly link: string; readonly code: string } {
  const link = /^http\S+$/m.exec(mail?.text ?? "")?.[0] ?? ""
  return { link: link.replace("http://localhost", ""), code: /^ {4}(\d{6})$/m.exec(mail?.text ?? "")?.[1] ?? "" }
}
