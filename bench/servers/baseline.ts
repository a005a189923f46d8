/**
 * The least that a server in this runtime can do: parse the JSON of a request and answer with a constant JSON of as many
 * bytes as the argument says, under a content type alone. What the product adds is measured against it.
 */
const bytes = Number(Bun.argv[2])
const emptyBytes = JSON.stringify({ filler: "" }).length
if (!(bytes >= emptyBytes)) throw new Error(`the answer has at least ${emptyBytes} bytes`)
const answer = JSON.stringify({ filler: "x".repeat(bytes - emptyBytes) })
const headers = { "Content-Type": "application/json" }

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async request => {
    await request.json()
    return new Response(answer, { headers })
  },
})
console.log(`the floor listens on ${server.url.origin}`)
