import { onTestEnd } from "../../support/on-test-end.ts"

/** What is answered to one request: a body that is no text is JSON, and a function makes it of the request's. */
export type Said = {
  readonly status: number
  readonly body: unknown | ((sent: string) => unknown)
  readonly headers?: Readonly<Record<string, string>>
}

/** What one request held. */
type ApiResponse = { readonly line: string; readonly authorization: string | null; readonly body: string }

/** What is never answered: the asker goes first. */
export const SILENCE: Said = { status: 0, body: "" }

/** A server on loopback that says what it is told to, in turn, and the last again; it ends with the test. */
export function sayingServer() {
  const requests: ApiResponse[] = []
  let next: Said[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async request => {
      const { pathname, search } = new URL(request.url)
      const authorization = request.headers.get("authorization")
      const sent = await request.text()
      requests.push({ line: `${request.method} ${pathname}${search}`, authorization, body: sent })
      const [reply = { status: 500, body: "" }] = next
      if (next.length > 1) next = next.slice(1)
      if (reply === SILENCE) return await new Promise<never>(() => undefined)
      const { status, headers = {} } = reply
      const body = typeof reply.body === "function" ? reply.body(sent) : reply.body
      return typeof body === "string"
        ? new Response(body, { status, headers })
        : Response.json(body, { status, headers })
    },
  })
  onTestEnd(() => server.stop(true))
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    say: (...reply: readonly Said[]): void => {
      next = [...reply]
    },
    stop: () => server.stop(true),
  }
}
