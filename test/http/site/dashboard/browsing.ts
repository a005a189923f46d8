import { type AppOptions, testApp } from "../../../world/app.ts"
import { unescaped } from "../open-site.ts"

/** What a browser got. */
export type Page = {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** What a person reads of it. */
  readonly words: string
}

/** A house and a browser that is signed in to its account, or to that of another id. */
export async function browsing(options: AppOptions = {}) {
  const house = await testApp(options)
  return { house, ...(await browser(house)) }
}

type House = Awaited<ReturnType<typeof testApp>>

/** A browser that is signed in to an account of the house. */
export async function browser(house: House, accountId?: string) {
  const cookie = await house.signIn(accountId)
  const asked = async (path: string, init: RequestInit): Promise<Page> => {
    const answer = await house.app(new Request(`http://localhost${path}`, init))
    const html = await answer.text()
    return { status: answer.status, headers: answer.headers, html, words: wordsOf(html) }
  }
  const open = (path: string): Promise<Page> => asked(path, { headers: { Cookie: cookie } })
  return {
    cookie,
    open,
    /** Sends a form; a field of several values is sent once for each. */
    send: (path: string, fields: Readonly<Record<string, string>> = {}): Promise<Page> =>
      asked(path, {
        method: "POST",
        headers: {
          Cookie: cookie,
          Origin: "http://localhost",
          "Content-Type": "application/x-www-form-urlencoded",
        },
        body: new URLSearchParams(fields).toString(),
      }),
    /** The slip of a fresh form for a key. */
    slip: async (): Promise<string> => fieldOf((await open("/dashboard")).html, "slip"),
  }
}

/** The words of a page or a part of it. */
export const wordsOf = (html: string): string =>
  unescaped(html.replaceAll(/<[^>]*>/g, " ").replaceAll("&#39;", "'")).replaceAll(/\s+/g, " ")

/** The value of a hidden or text field; empty where there is none. */
export const fieldOf = (html: string, name: string): string =>
  unescaped(html.match(new RegExp(`<input[^>]*name="${name}"[^>]*value="([^"]*)"`))?.[1] ?? valueFirst(html, name))

const valueFirst = (html: string, name: string): string =>
  html.match(new RegExp(`<input[^>]*value="([^"]*)"[^>]*name="${name}"`))?.[1] ?? ""

/** The key that a page shows; null: none. */
export const keyIn = (html: string): string | null => html.match(/svc_(?:live|pub)_[0-9A-Za-z]{38}/)?.[0] ?? null

/** The sentence that says what is wrong with a field; empty where nothing is. */
export const faultAt = (html: string, field: string): string =>
  wordsOf(html.match(new RegExp(`<p [^>]*id="${field}-fault"[^>]*>(.*?)</p>`, "s"))?.[1] ?? "").trim()
