import { expect, setDefaultTimeout, test } from "bun:test"
import { parser } from "@grafana/lezer-logql"
import { ROUTES } from "../../../src/contract/routes.ts"
import { sampleIn } from "../../http/site/docs/sample-in.ts"
import { openSite } from "../../support/open-site.ts"
import { TestServer } from "../../support/test-server.ts"

setDefaultTimeout(120_000)

const PAGE = await (await openSite()(ROUTES.docsLog.path)).text()

function sample(caption: string): string {
  const text = sampleIn(PAGE, caption)
  if (text === null) throw new Error(`the page has no ${caption}`)
  return text
}

const JQ = Bun.which("jq")
const NAMED = JQ === null ? " (skipped: jq is not installed)" : ""

test.skipIf(JQ === null)(
  `the commands of the page find a request by its id, failed requests and warnings in the log of a server${NAMED}`,
  async () => {
    await using server = new TestServer({ settings: { MAILKIND_LOG: "debug" } })
    await server.start()
    for (let at = 0; at < 3; at++) await server.ask("GET /v1/check?email=jane@example.com", { key: "wrong" })
    const { headers } = await server.ask("GET /v1/check", { key: server.firstKey })
    const id = String(headers["x-request-id"])
    const failed = JSON.stringify(JSON.parse(sample("A line")))
    const warning = '{"time":"2026-11-26T09:30:00.000Z","level":"warn","msg":"DNS does not answer"}'
    const log = `${await server.logged(new RegExp(id))}${failed}\n${warning}\n`
    const commands = sample("Shell").split("\n")
    const found: unknown[][] = []
    for (const command of commands) {
      const script = `journalctl() { cat; }\n${command.replace("req_…", id)}`
      const shell = Bun.spawn(["sh", "-ec", script], { stdin: new TextEncoder().encode(log), stdout: "pipe" })
      const out = await new Response(shell.stdout).text()
      expect([command, await shell.exited]).toEqual([command, 0])
      found.push(
        out
          .trim()
          .split("\n")
          .map(line => JSON.parse(line)),
      )
    }
    const [byId, failures, warnings] = found
    expect(byId).toEqual([expect.objectContaining({ request_id: id, status: 400, msg: "a request was refused" })])
    const { time, route, code, account_id } = JSON.parse(failed)
    expect(failures).toEqual([[time, route, code, account_id]])
    expect(warnings).toEqual([JSON.parse(warning)])
  },
)

test("the queries for Loki are valid LogQL", () => {
  const queries = sample("LogQL").split("\n")
  expect(queries.length).toBeGreaterThanOrEqual(3)
  const isValid = (query: string): boolean => {
    let hasError = false
    parser.parse(query).iterate({
      enter: ({ type }) => {
        hasError ||= type.isError
      },
    })
    return !hasError
  }
  for (const query of queries) expect([query, isValid(query)]).toEqual([query, true])
  expect(isValid("sum by (code) (count_over_time({unit=} | json [5m]))")).toBe(false)
})
