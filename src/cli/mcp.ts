import type { Command } from "commander"
import type { McpBackend } from "../mcp/tools.ts"
import { CommandError } from "./output.ts"
import { addServerOptions, readServerTarget, type ServerFlags, type ServerTarget } from "./server.ts"

/** What answers an agent: the lists and the network of this program, or a server. */
export type McpOptions = { readonly isOffline: boolean; readonly server: ServerTarget | null }
export type OpenMcpBackend = (options: McpOptions) => Promise<McpBackend>

/** Registers `mcp`. */
export function registerMcp(root: Command, openBackend: OpenMcpBackend): void {
  const command = root
    .command("mcp")
    .description("Serve an agent over standard input and output (Model Context Protocol).")
    .option("--offline", "use no network", false)
  addServerOptions(command).action(async ({ offline, ...flags }: ServerFlags & { readonly offline: boolean }) => {
    const backend = await openBackend({ isOffline: offline, server: readServerTarget(flags, offline) })
    // The package of the protocol takes time to load, which no other command needs.
    const { serveMcpOverStdio } = await import("../mcp/mcp-server.ts")
    if ((await serveMcpOverStdio(backend)) === "too_long")
      throw new CommandError("The agent sent a message that is longer than 1 MiB, and was disconnected.")
  })
}
