import { mixRequests } from "./mix.ts"
import { type Options, WrongUse } from "./options.ts"
import { requestBytes } from "./request-bytes.ts"

/** The bytes of every request that the options ask for, in their turn. Throws `WrongUse` when there are none to send. */
export async function requestsOf({ url, method, headers, inputs }: Options): Promise<readonly Uint8Array[]> {
  if (inputs.kind === "none") return [requestBytes({ method, url, headers, body: "" })]
  if (inputs.kind === "queries")
    return (await linesIn(inputs.file)).map(query =>
      requestBytes({ method, url: new URL(`?${query}`, url), headers, body: "" }),
    )
  const typed = { "Content-Type": "application/json", ...headers }
  if (inputs.kind === "mix")
    return mixRequests(inputs.mix).map(({ path, body }) =>
      requestBytes({ method, url: new URL(path, url), headers: typed, body }),
    )
  return (await linesIn(inputs.file)).map(body => requestBytes({ method, url, headers: typed, body }))
}

async function linesIn(file: string): Promise<readonly string[]> {
  if (file !== "-" && !(await Bun.file(file).exists())) throw new WrongUse(`there is no file ${file}`)
  const text = await (file === "-" ? Bun.stdin : Bun.file(file)).text()
  const lines = text.split("\n").filter(line => line.trim() !== "")
  if (lines.length === 0) throw new WrongUse("there is nothing to send")
  return lines
}
