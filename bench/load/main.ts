import { type Options, readOptions, USAGE, WrongUse } from "./options.ts"
import { reportText } from "./report-text.ts"
import { endpointOf, requestBytes } from "./request-bytes.ts"
import { runLoad } from "./run.ts"

/** Exit codes: 0 done, 1 the run failed, 2 wrong use. */
async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args)
    const requests = (await bodiesOf(options)).map(body =>
      requestBytes({ ...options, headers: headersOf(options), body }),
    )
    const report = await runLoad({ ...options, ...endpointOf(options.url), requests })
    console.log(options.json ? JSON.stringify(report) : reportText(options.url.href, report))
    return 0
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault
    console.error(fault instanceof WrongUse ? `${fault.message}\n\n${USAGE}` : fault.message)
    return fault instanceof WrongUse ? 2 : 1
  }
}

/** The bodies to send; one empty body when there are none. */
async function bodiesOf({ bodies }: Options): Promise<readonly string[]> {
  if (bodies === null) return [""]
  const text = await (bodies === "-" ? Bun.stdin : Bun.file(bodies)).text()
  const lines = text.split("\n").filter(line => line !== "")
  if (lines.length === 0) throw new WrongUse("there are no bodies")
  return lines
}

const headersOf = ({ bodies, headers }: Options): Options["headers"] =>
  bodies === null ? headers : { "Content-Type": "application/json", ...headers }

process.exitCode = await main(Bun.argv.slice(2))
