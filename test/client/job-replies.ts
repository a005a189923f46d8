import { exampleJob } from "../../src/http/response/example-responses.ts"
import { type FaultReply, says } from "./fault-server.ts"

/** A job in this state, as the API sends it. */
export const jobReply = (state: string, status = 200): FaultReply =>
  says(status, JSON.stringify({ ...exampleJob(), state }))

/** The results of a list. */
export const CUT_RESULTS = `email,category\n${"jane@stripe.com,business\n".repeat(200)}`

/** Sends the rest of these results, and closes the connection after so many bytes. */
export const cutResults =
  (cutAfter = Number.POSITIVE_INFINITY, tag = '"job.1"'): FaultReply =>
  (request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0)
    const rest = CUT_RESULTS.slice(from)
    const ifRange = request.headers["if-range"]
    if (ifRange !== undefined && ifRange !== tag) return says(200, CUT_RESULTS, { ETag: tag })(request, response, "")
    response.writeHead(from === 0 ? 200 : 206, { ETag: tag, "Transfer-Encoding": "chunked" })
    if (rest.length <= cutAfter) return void response.end(rest)
    response.write(rest.slice(0, cutAfter), () => response.socket?.end())
  }
