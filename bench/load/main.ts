import { readOptions, USAGE, WrongUse } from "./options.ts"
import { reportText } from "./report-text.ts"
import { endpointOf } from "./request-bytes.ts"
import { requestsOf } from "./requests.ts"
import { runLoad } from "./run.ts"

/** Exit codes: 0 done, 1 the run failed, 2 wrong use. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    console.log(USAGE)
    return 0
  }
  try {
    const options = readOptions(args)
    const endpoint = endpointOf(options.url, options.trustsAnybody)
    const report = await runLoad({ ...options, endpoint, requests: await requestsOf(options) })
    console.log(options.json ? JSON.stringify(report) : reportText(options.url.href, report))
    return 0
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault
    console.error(fault instanceof WrongUse ? `${fault.message}\n\n${USAGE}` : fault.message)
    return fault instanceof WrongUse ? 2 : 1
  }
}

process.exitCode = await main(Bun.argv.slice(2))
