import type { Command } from "commander"
import type { Refreshed } from "../check/refresh/refresh.ts"
import type { RolledBack } from "../check/refresh/roll-back.ts"
import { CommandFailure, json, type Output, shown, table } from "./output.ts"

/** What the commands that change the lists in use need. */
export type RefreshTools = {
  /** Refreshes the lists of the data directory. `only`: the id or URL of one source; null: all. */
  readonly refresh: (only: string | null) => Promise<Refreshed | "unknown" | "busy">
  readonly rollBack: () => Promise<RolledBack | "busy">
}

const BUILT_IN = "The lists that came along are in use."
const UNKNOWN = "That is neither a URL nor the id of a source that is downloaded; `lists update` shows those ids."
const BUSY = "Another process refreshes the lists of this data directory; try again when it is done."

/** Registers `lists update` and `lists rollback` with the group. */
export function refreshCommands(group: Command, output: Output, tools: RefreshTools): void {
  group
    .command("update")
    .description("Download the sources, and put the lists that they give in use; servers take them within seconds.")
    .option("--source <id or url>", "one source alone: by its id, at a mirror, or a list of your own")
    .option("--json", "answer in JSON", false)
    .action(({ source, json: asJson }) => listsUpdate(output, tools, source ?? null, asJson))
  group
    .command("rollback")
    .description("Go back to the lists before those in use; they stay until `lists update`.")
    .option("--json", "answer in JSON", false)
    .action(({ json: asJson }) => listsRollback(output, tools, asJson))
}

/**
 * `lists update`: what became of each source, and the version in use. It fails when none of the sources that were asked for
 * was of use, or no pack could be made. Lists are made of the last good copies all the same, such as those that an operator
 * went back from.
 */
async function listsUpdate(
  output: Output,
  { refresh }: RefreshTools,
  only: string | null,
  asJson: boolean,
): Promise<void> {
  const refreshed = await refresh(only)
  if (refreshed === "busy") throw new CommandFailure(BUSY)
  if (refreshed === "unknown") throw new CommandFailure(UNKNOWN, 2)
  const { sources, made, faults } = refreshed
  const version = made === "built_in" ? made : (made?.version ?? null)
  if (asJson) json(output, { version, sources, faults })
  else {
    const rows = Object.entries(sources).map(([id, { outcome, says }]) => [id, outcome, shown(says)])
    table(output, [["source", "became", "why"], ...rows])
    output.line(inUseSays(version))
  }
  if (faults.length > 0) throw new CommandFailure(["no lists could be made:", ...faults].join("\n  "))
  if (Object.values(sources).every(({ outcome }) => outcome === "refused" || outcome === "failed"))
    throw new CommandFailure("No source was of use.")
}

function inUseSays(version: string | null): string {
  if (version === null) return "The lists in use are the same."
  return version === "built_in" ? BUILT_IN : `The lists ${version} are in use.`
}

async function listsRollback(output: Output, { rollBack }: RefreshTools, asJson: boolean): Promise<void> {
  const back = await rollBack()
  if (back === "busy") throw new CommandFailure(BUSY)
  if (back === null) throw new CommandFailure("There is nothing to go back to: the lists that came along are in use.")
  const version = back === "built_in" ? null : back.version
  if (asJson) return json(output, { version })
  output.line(version === null ? BUILT_IN : `The lists ${version} are in use.`)
  output.line("No schedule replaces them; `lists update` does.")
}
