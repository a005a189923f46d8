/**
 * The least that a program in this runtime can do with a file of lines: split it, and write for each line a constant JSON
 * of as many bytes as the argument says, with its line feed. `bun floor-classify.ts INPUT OUTPUT BYTES`
 */
const [input = "", output = "", wanted] = Bun.argv.slice(2)
const emptyBytes = `${JSON.stringify({ filler: "" })}\n`.length
const bytes = Number(wanted)
if (!(bytes >= emptyBytes)) throw new Error(`a result has at least ${emptyBytes} bytes`)
const result = `${JSON.stringify({ filler: "x".repeat(bytes - emptyBytes) })}\n`

const decoder = new TextDecoder()
const sink = Bun.file(output).writer()
let rest = ""
for await (const part of Bun.file(input).stream()) {
  const lines = (rest + decoder.decode(part, { stream: true })).split("\n")
  rest = lines.pop() ?? ""
  let page = ""
  for (let at = 0; at < lines.length; at++) page += result
  sink.write(page)
  await sink.flush()
}
await sink.end()
