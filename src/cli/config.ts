import type { Command } from "commander"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** The settings as they are shown, or every fault of them. `origin` null: the default. A secret has no text. */
export type SettingsShown =
  | { readonly kind: "faulty"; readonly faults: readonly string[] }
  | {
      readonly kind: "read"
      readonly settings: readonly { readonly name: string; readonly value: string; readonly origin: string | null }[]
    }

/** What the commands about settings need. */
export type ConfigCommandDeps = { readonly read: () => SettingsShown }

/** The error of a command that cannot begin, since these faults are in the settings. */
export const faultySettings = (faults: readonly string[]): CommandError =>
  new CommandError(["the settings are faulty:", ...faults].join("\n  "), 2)

/** Registers `config show`. */
export function registerConfigCommands(root: Command, output: Output, { read }: ConfigCommandDeps): void {
  const group = root.command("config").description("Show the settings.")
  group
    .command("show")
    .description("Show all settings, and where each comes from. Secrets are shown as •••.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }: { json: boolean }) => {
      const shown = read()
      if (shown.kind === "faulty") throw faultySettings(shown.faults)
      if (asJson) return printJson(output, shown.settings)
      printTable(
        output,
        shown.settings.map(({ name, value, origin }) => [name, value, origin ?? "the default"]),
      )
    })
}
