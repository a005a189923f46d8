import { testApp } from "../../../world/app.ts"
import { unescaped } from "../open-site.ts"

/** What a page said: its status, its HTML, its words in one line, and where it sends the browser. */
export type Seen = {
  readonly status: number
  readonly html: string
  readonly words: string
  /** Null: nowhere. */
  readonly leadsTo: string | null
}

type Options = Parameters<typeof testApp>[0]

/** The whole app, with `owner@localhost` as its admin, who is signed in and asks for pages and sends forms. */
export async function openAdmin(options: Options = {}) {
  const house = await testApp({ admins: ["Owner@LOCALHOST"], ...options })
  const cookie = await house.signIn()
  const ask = async (path: string, fields: Record<string, string> | null, as: string): Promise<Seen> =>
    await seen(await house.app(fields === null ? pageRequest(path, as) : formRequest(path, fields, as)))
  return {
    ...house,
    /** Asks for a page, as the admin unless another cookie is given. */
    page: (path: string, as = cookie) => ask(path, null, as),
    /** Sends a form. */
    form: (path: string, fields: Record<string, string> = {}, as = cookie) => ask(path, fields, as),
    /** Sends a form and shows the page that it leads to. */
    done: async (path: string, fields: Record<string, string> = {}) => {
      const { leadsTo, status, words } = await ask(path, fields, cookie)
      if (leadsTo === null) throw new Error(`${status}: ${words}`)
      return await ask(leadsTo, null, cookie)
    },
  }
}

const pageRequest = (path: string, cookie: string): Request =>
  new Request(`http://localhost${path}`, { headers: { Cookie: cookie } })

/** A form as a browser sends it from a page of ours. */
export const formRequest = (
  path: string,
  fields: Readonly<Record<string, string>>,
  cookie: string,
  origin: string | null = "http://localhost",
): Request =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Cookie: cookie,
      ...(origin === null ? {} : { Origin: origin }),
    },
    body: new URLSearchParams(fields).toString(),
  })

async function seen(response: Response): Promise<Seen> {
  const html = await response.text()
  const words = unescaped(html.replaceAll(/<[^>]*>/g, " ").replaceAll("&#39;", "'")).replaceAll(/\s+/g, " ")
  return { status: response.status, html, words, leadsTo: response.headers.get("location") }
}

/** The values of the hidden fields and the path of the form whose button has the label. */
export function formIn(
  html: string,
  label: string,
): { readonly path: string; readonly fields: Record<string, string> } {
  const forms = html.match(/<form[^>]*>.*?<\/form>/gs) ?? []
  const found = forms.find(form => form.includes(`${label}<`))
  if (found === undefined) throw new Error(`no form says ${label}`)
  const inputs = [...found.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  const fields = Object.fromEntries(inputs.map(([, name = "", value = ""]) => [name, unescaped(value)]))
  return { path: unescaped(found.match(/action="([^"]*)"/)?.[1] ?? ""), fields }
}
