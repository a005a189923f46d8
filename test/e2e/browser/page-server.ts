import { onTestEnd } from "../../support/on-test-end.ts"

/** Serves an empty page, and gives its origin. */
export function pageServer(): { readonly origin: string } {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<!doctype html><title>page</title>", { headers: { "Content-Type": "text/html" } }),
  })
  onTestEnd(() => server.stop(true))
  return { origin: `http://127.0.0.1:${server.port}` }
}
