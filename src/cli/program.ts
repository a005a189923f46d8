import { Command, CommanderError } from "commander"
import type { Clock } from "../base/outside-world.ts"
import { type Ask, registerAccountCommands, type WithCustomers } from "./account/accounts.ts"
import { registerAccountImport } from "./account/import.ts"
import { registerInvitationCommands } from "./account/invitations.ts"
import { registerAccountRules } from "./account/rules.ts"
import { registerSupportCommands } from "./account/support.ts"
import { registerAuditCommand } from "./audit.ts"
import { type OpenCheck, type ReadOwnLists, registerCheck } from "./check.ts"
import { registerClean } from "./classify/clean-command.ts"
import { registerClassify, registerClassifyWorker } from "./classify/command.ts"
import type { ClassifyDeps } from "./classify/run.ts"
import { type ConfigCommandDeps, registerConfigCommands } from "./config.ts"
import { type BackupDeps, registerBackupCommands, registerStoreCommands, type StoreCopyDeps } from "./database.ts"
import { type RunDoctor, registerDoctor } from "./doctor.ts"
import { registerFeedbackCommands } from "./feedback.ts"
import { type JobCommandDeps, registerJobCommands } from "./jobs.ts"
import { registerKeyCommands } from "./keys.ts"
import { type LicenceCommandDeps, registerLicenceCommands } from "./licences.ts"
import { type ListsCommandDeps, registerListsCommands } from "./lists.ts"
import { type OpenMcpBackend, registerMcp } from "./mcp.ts"
import {
  CommandError,
  CommandExit,
  failureText,
  isJsonAsked,
  JSON_FLAG,
  type Output,
  printJson,
  safeOutput,
} from "./output.ts"
import { type ReadInput, registerOwnListCommands } from "./own-lists.ts"
import { registerServe, type ServeOptions } from "./serve.ts"
import { addSettingOptions, type ChosenSettings, type SettingFlag } from "./setting-options.ts"
import { readCommands } from "./shell/command-tree.ts"
import { registerShellCommands } from "./shell/commands.ts"
import { registerTermsCommands } from "./terms.ts"

/** What the commands need. Functions make their part only when a command calls them. */
export type CommandDeps = {
  readonly output: Output
  readonly version: string
  /** The commit that the program was built from; null: not known. */
  readonly commit: string | null
  /** Takes the settings of the command line, before a command begins. */
  readonly chooseSettings: (chosen: ChosenSettings) => void
  readonly settingFlags: readonly SettingFlag[]
  readonly config: ConfigCommandDeps
  /** Makes a secret key that nothing knows yet. */
  readonly newKey: () => string
  readonly readInput: ReadInput
  readonly clock: Clock
  readonly ask: Ask
  readonly serve: (options: ServeOptions) => Promise<void>
  readonly openCheck: OpenCheck
  readonly readOwnLists: ReadOwnLists
  readonly classify: ClassifyDeps
  readonly openServer: JobCommandDeps["openServer"]
  readonly openMcpBackend: OpenMcpBackend
  /** How many processes can work in parallel. Absent: one. */
  readonly coreCount?: number
  readonly withCustomers: WithCustomers
  readonly lists: ListsCommandDeps
  /** Packages, sources and licences of this program. */
  readonly licences: LicenceCommandDeps
  readonly backups: BackupDeps
  readonly store: StoreCopyDeps
  readonly doctor: RunDoctor
  /** All settings. `help settings --json` prints these objects, so the names `says` and `advanced` are part of the interface. */
  readonly settings: readonly {
    readonly name: string
    readonly default: string
    readonly advanced: boolean
    readonly says: string
  }[]
}

/** Runs the command that the arguments name. Resolves with the exit code (`EXIT_CODES`). */
export async function runCommand(given: CommandDeps, args: readonly string[]): Promise<number> {
  const asJson = isJsonAsked(args)
  const deps = { ...given, output: safeOutput(given.output) }
  try {
    await createProgram(deps, asJson).parseAsync([...args], { from: "user" })
    return 0
  } catch (error) {
    if (error instanceof CommandExit) return error.exitCode
    if (error instanceof CommanderError) {
      // Its code is 0 after help and version. Commander has printed the message already, unless JSON was asked for.
      if (error.exitCode === 0) return 0
      if (asJson) deps.output.stderrLine(failureText(args, error.message.replace(/^error: /, ""), 2))
      return 2
    }
    if (!(error instanceof CommandError)) throw error
    deps.output.stderrLine(failureText(args, error.message, error.exitCode, error.lines))
    return error.exitCode
  }
}

function createProgram(deps: CommandDeps, asJson: boolean): Command {
  const { output } = deps
  const root = new Command("mailkind")
    .description("Check an email address, a domain or a website URL.")
    .version(deps.version, "-V, --version", "print the version")
    // Options of the program stand before the command: `terms publish --version` is another one.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: text => output.line(text.trimEnd()),
      writeErr: text => {
        if (!asJson) output.stderrLine(text.trimEnd())
      },
    })
    .helpCommand(false)
  registerServe(root, deps.serve)
  registerCheck(root, output, deps, deps.classify.streams)
  registerClassify(root, output, deps.openCheck, deps.classify, deps.coreCount)
  registerClean(root, output, deps.openCheck, deps.classify)
  registerClassifyWorker(root, { ...deps.classify, openCheck: isOffline => deps.openCheck(isOffline, null) })
  registerJobCommands(root, { ...deps, streams: deps.classify.streams })
  registerMcp(root, deps.openMcpBackend)
  registerListsCommands(root, output, deps.lists)
  const accounts = registerAccountCommands(root, output, deps.withCustomers, deps.ask)
  registerSupportCommands(accounts, output, deps.withCustomers)
  registerAccountImport(accounts, output, deps.withCustomers, deps.readInput)
  registerAccountRules(accounts, output, deps.withCustomers)
  registerInvitationCommands(accounts, output, deps.withCustomers)
  registerKeyCommands(root, output, deps.withCustomers, deps.newKey)
  registerFeedbackCommands(root, output, deps.withCustomers)
  registerTermsCommands(root, output, deps.withCustomers)
  registerOwnListCommands(root, deps)
  registerAuditCommand(root, output, deps.withCustomers)
  registerLicenceCommands(root, output, deps.licences)
  registerBackupCommands(root, output, deps.backups)
  registerStoreCommands(root, output, deps.store)
  registerDoctor(root, output, deps.doctor)
  registerHelp(root, deps)
  registerConfigCommands(root, output, deps.config)
  registerShellCommands(root, deps)
  addSettingOptions(root, deps.settingFlags, deps.chooseSettings)
  return root
}

function registerHelp(root: Command, { output, version, commit, settings }: CommandDeps): void {
  root
    .command("help")
    .description("Show help for a command, or the settings.")
    .argument("[topic...]", "a command, or `settings`")
    .option(...JSON_FLAG, false)
    .action((topic: string[], { json: asJson }: { json: boolean }) => {
      if (topic[0] === "settings") return printSettings(output, settings, asJson)
      const command = topic.reduce<Command | undefined>(
        (group, name) => group?.commands.find(subcommand => subcommand.name() === name),
        root,
      )
      if (command === undefined) throw new CommandError(`There is no command \`${topic.join(" ")}\`.`, 2)
      if (asJson) return printJson(output, readCommands(command, topic))
      output.line(command.helpInformation().trimEnd())
    })
  root
    .command("version")
    .description("Print the version.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => {
      if (asJson) printJson(output, { version, commit })
      else output.line(commit === null ? version : `${version} (${commit})`)
    })
}

function printSettings(output: Output, settings: CommandDeps["settings"], asJson: boolean): void {
  if (asJson) {
    printJson(output, settings)
    return
  }
  for (const isAdvanced of [false, true]) {
    if (isAdvanced) output.line("\nAdvanced settings, which most servers never set:\n")
    for (const { name, default: fallback, says } of settings.filter(({ advanced }) => advanced === isAdvanced)) {
      output.line(`${name}  (default: ${fallback})`)
      output.line(`  ${says}`)
    }
  }
}
