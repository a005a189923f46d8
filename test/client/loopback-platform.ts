import { request } from "node:http"
import type { ClientPlatform } from "../../src/client/platform.ts"

/**
 * A platform whose waits between tries end at once and are listed. Longer times than `waitsMaxMs` are time-outs: they end when
 * `expire` is called. Requests reach loopback, where `fetch` is shut.
 */
export function loopbackPlatform({ random = 0, waitsMaxMs = 100_000 } = {}) {
  const waits: number[] = []
  const timeouts: (() => void)[] = []
  let [now, ids] = [0, 0]
  const platform: ClientPlatform = {
    now: () => now,
    random: () => random,
    after: (ms, call) => {
      if (ms > waitsMaxMs) {
        timeouts.push(call)
        return () => undefined
      }
      waits.push(ms)
      now += ms
      queueMicrotask(call)
      return () => undefined
    },
    fetch: loopbackFetch,
    newId: () => `id-${ids++}`,
    isPage: () => false,
  }
  const expire = (): void => {
    for (const call of timeouts.splice(0)) call()
  }
  return { platform, waits, expire }
}

/** As `fetch`: it resolves with the headers, and the body may fail later. */
function loopbackFetch(url: string, { method = "GET", headers, body, signal }: RequestInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    const all = new Headers(headers)
    // As `fetch` does: `node:http` sends the body of a DELETE without a length.
    if (typeof body === "string") all.set("Content-Length", String(Buffer.byteLength(body)))
    const sent = request(url, { method, headers: Object.fromEntries(all), agent: false }, answer => {
      const facts = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
      const stream = new ReadableStream<Uint8Array>({
        start: controller => {
          answer.on("data", part => controller.enqueue(part))
          answer.on("end", () => controller.close())
          answer.on("error", error => controller.error(error))
        },
      })
      resolve(new Response(stream, { status: answer.statusCode ?? 0, headers: facts }))
    })
    signal?.addEventListener("abort", () => sent.destroy())
    sent.on("error", reject)
    sent.end(body)
  })
}
