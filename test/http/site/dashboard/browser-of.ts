import type { testApp } from "../../../world/app.ts"

type House = Awaited<ReturnType<typeof testApp>>

/** What a browser is shown. */
export type Shown = { readonly status: number; readonly html: string; readonly headers: Headers; readonly to: string }

/** A browser that is signed in to an account of the house (absent: the house's own), and sends forms as browsers do. */
export async function browserOf({ app, signIn }: Pick<House, "app" | "signIn">, accountId?: string) {
  const cookie = await signIn(accountId)
  const shown = async (request: Request): Promise<Shown> => {
    const answer = await app(request)
    const { status, headers } = answer
    return { status, headers, html: await answer.text(), to: headers.get("location") ?? "" }
  }
  const send = (path: string, body: BodyInit, headers: Readonly<Record<string, string>> = {}): Promise<Shown> =>
    shown(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { Cookie: cookie, Origin: "http://localhost", ...headers },
        body,
      }),
    )
  return {
    cookie,
    get: (path: string): Promise<Shown> =>
      shown(new Request(`http://localhost${path}`, { headers: { Cookie: cookie } })),
    /** Posts fields as a form without files does. */
    post: (path: string, fields: Readonly<Record<string, string>>, headers = {}): Promise<Shown> =>
      send(path, new URLSearchParams(fields), headers),
    /** Posts fields and files as a form of parts does. */
    postParts: (path: string, fields: Readonly<Record<string, string | File>>): Promise<Shown> => {
      const parts = new FormData()
      for (const [name, value] of Object.entries(fields)) parts.append(name, value)
      return send(path, parts)
    },
    send,
  }
}

/** The ids of a page that stand on several elements. */
export function repeatedIds(html: string): string[] {
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id)
  return ids.filter((id, at) => ids.indexOf(id) !== at)
}
