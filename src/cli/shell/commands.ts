import type { Command } from "commander"
import { escapeControls } from "../../base/untrusted-text.ts"
import { CommandError, type Output } from "../output.ts"
import { readCommands } from "./command-tree.ts"
import { completionScript, SHELLS } from "./completion.ts"
import { type ManPageFacts, manPage } from "./man-page.ts"

/** Registers `completion` and `man`. Both are made from the registered commands, so they name every command and option. */
export function registerShellCommands(root: Command, deps: ManPageFacts & { readonly output: Output }): void {
  root
    .command("completion")
    .description("Print the completions for a shell.")
    .argument("<shell>", `the shell: ${SHELLS.join(", ")}`)
    .action(name => {
      const shell = SHELLS.find(shell => shell === name)
      if (shell === undefined)
        throw new CommandError(
          `There are completions for ${SHELLS.join(", ")}, not for \`${escapeControls(name)}\`.`,
          2,
        )
      deps.output.line(completionScript(shell, readCommands(root)).trimEnd())
    })
  root
    .command("man")
    .description("Print the manual page.")
    .action(() => deps.output.line(manPage(readCommands(root), deps).trimEnd()))
}
