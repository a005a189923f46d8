import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import type { TSchema } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { API_VERSION } from "../contract/routes.ts"
import { INSTRUCTIONS, type McpBackend, TOOL_NAMES, TOOLS, type ToolResult, type ToolSpec } from "./tools.ts"

/** The server announces no changes, so nobody has to listen for them. */
const SUBSCRIPTIONS_MAX = 0

/** The longest message over stdio. */
const STDIO_MESSAGE_BYTES_MAX = 1_048_576

/** The tools with schemas that the package reads, compiled once. */
const PUBLISHED = TOOL_NAMES.map(name => {
  const { title, description, input, output, isOpenWorld, summary, change }: ToolSpec = TOOLS[name]
  return {
    name,
    output,
    summary: summary as (value: unknown) => string, // a tool's result has the form of its output
    config: {
      title,
      description,
      inputSchema: fromJsonSchema(plainSchema({ ...input, additionalProperties: false })),
      outputSchema: fromJsonSchema(plainSchema(output)),
      annotations: {
        readOnlyHint: change === undefined,
        destructiveHint: change === "removes" || change === "replaces",
        idempotentHint: true,
        openWorldHint: isOpenWorld,
      },
    },
  }
})

/** A schema without the names and examples that stand for the OpenAPI document. */
function plainSchema(schema: TSchema) {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === "$id" || key === "examples" ? undefined : value)))
}

/** One server, which serves one connection or one request. */
function createServer(backend: McpBackend): McpServer {
  const server = new McpServer(
    { name: "mailkind", title: "mailkind", version: API_VERSION },
    { instructions: INSTRUCTIONS },
  )
  for (const { name, config, output, summary } of PUBLISHED)
    server.registerTool(name, config, async args => toolAnswer(await backend[name](args), output, summary))
  return server
}

/** A result has the members of the tool's output alone. A problem is a failed tool call, so that the model reads it. */
function toolAnswer(result: ToolResult, output: TSchema, summary: (value: unknown) => string) {
  if (result.kind === "result") {
    const value = Value.Clean(output, structuredClone(result.value)) as Record<string, unknown> // outputs are objects
    return { content: [{ type: "text" as const, text: summary(value) }], structuredContent: value }
  }
  const wait = result.retryAfterS === undefined ? "" : ` Try again after ${result.retryAfterS} seconds.`
  return { isError: true, content: [{ type: "text" as const, text: `${result.code}: ${result.detail}${wait}` }] }
}

/**
 * Answers one POST of the streamable HTTP transport, without a session: revision 2026-07-28, and the older ones for clients
 * that begin with `initialize`. The response is complete, so nothing runs after it.
 */
export async function handleMcpRequest(backend: McpBackend, request: Request): Promise<Response> {
  const handler = createMcpHandler(() => createServer(backend), {
    maxSubscriptions: SUBSCRIPTIONS_MAX,
    keepAliveMs: 0,
  })
  try {
    const { status, headers, body } = await handler.fetch(request)
    const bytes = body === null ? null : await new Response(body).bytes()
    return new Response(bytes, { status, headers })
  } finally {
    await handler.close()
  }
}

/** Serves one client over standard input and output. Resolves when the client has closed them, or has sent a message that is too long. */
export async function serveMcpOverStdio(backend: McpBackend): Promise<"closed" | "too_long"> {
  const closed = Promise.withResolvers<void>()
  let isTooLong = false
  const transport = new StdioServerTransport(undefined, undefined, { maxBufferSize: STDIO_MESSAGE_BYTES_MAX })
  const close = transport.close.bind(transport)
  transport.close = async () => {
    await close()
    closed.resolve()
  }
  serveStdio(() => createServer(backend), {
    transport,
    maxSubscriptions: SUBSCRIPTIONS_MAX,
    onerror: ({ message }) => {
      isTooLong ||= message.startsWith("ReadBuffer exceeded")
    },
  })
  await closed.promise
  return isTooLong ? "too_long" : "closed"
}
