/**
 * The least that a server in this runtime can do for a batch: parse the JSON of a request and write the objects of an answer
 * that are ready. The answer is that of the file which the argument names.
 */
const answer: unknown = await Bun.file(Bun.argv[2] ?? "").json()
const headers = { "Content-Type": "application/json" }

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async request => {
    await request.json()
    return new Response(JSON.stringify(answer), { headers })
  },
})
console.log(`the floor listens on ${server.url.origin}`)
