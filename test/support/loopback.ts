import { request } from "node:http"
import { bounded } from "./bounded.ts"

/** What a server answered. */
export type Answered = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** What is sent beside the address. */
export type Sent = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/**
 * Asks a server on loopback, where `fetch` is shut. Each question has a connection of its own: one that was kept may be
 * closed by the server at the moment it is used again. Rejects when no answer comes.
 */
export function askLoopback(url: string, { method = "GET", headers = {}, body }: Sent = {}): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  let received = "no answer"
  const sent = request(url, { method, headers, agent: false }, answer => {
    received = `status ${answer.statusCode}, and no end of the body`
    const chunks: Buffer[] = []
    answer.on("data", chunk => chunks.push(chunk))
    answer.on("error", reject)
    answer.on("end", () =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() }),
    )
  })
  sent.on("error", reject)
  sent.end(body)
  return bounded(promise, () => `${method} ${url} got ${received}`).finally(() => sent.destroy())
}

/** Asks a server on loopback as a browser would, at the address of the request or at another. */
export async function fetchLoopback(request: Request, url = request.url): Promise<Response> {
  const { status, headers, body } = await askLoopback(url, {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    ...(request.method === "POST" ? { body: await request.text() } : {}),
  })
  const facts = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  )
  return new Response(body, { status, headers: facts })
}
