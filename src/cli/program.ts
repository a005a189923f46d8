import { Command, CommanderError, InvalidArgumentError, Option } from "commander"
import { POLICY_DEFAULT, POLICY_NAMES } from "../contract/policies.ts"
import { TIER_MAX } from "../contract/tiers.ts"
import type { Inventory } from "../licences/inventory.ts"
import {
  accountCreate,
  accountDelete,
  accountList,
  accountShow,
  accountTier,
  type CustomerCommandDeps,
} from "./accounts.ts"
import { type CheckCommandDeps, checkCommand } from "./check.ts"
import { registerClassify } from "./classify/command.ts"
import type { ClassifyDeps } from "./classify/run.ts"
import { type BackupDeps, registerBackupCommands, registerStoreCommands, type StoreCopyDeps } from "./database.ts"
import { type RunDoctor, registerDoctor } from "./doctor.ts"
import { registerFeedbackCommands } from "./feedback.ts"
import { keyCreate, keyList, keyRevoke } from "./keys.ts"
import { registerLicenceCommands } from "./licences.ts"
import { type ListsCommandDeps, listsInfo, listsLookup, listsVerify, registerRefreshCommands } from "./lists.ts"
import { listsBuild } from "./lists-build.ts"
import { CommandError, type Output, printJson } from "./output.ts"
import { registerOwnListCommands } from "./own-lists.ts"
import { registerServe, type ServeOptions } from "./serve.ts"
import { registerTermsCommands } from "./terms.ts"

/** What the commands are given; each part is made when a command asks for it. */
export type CommandDeps = {
  readonly output: Output
  readonly version: string
  readonly serve: (options: ServeOptions) => Promise<void>
  /** `isOffline`: nothing outside of this machine is asked. */
  readonly openCheck: (isOffline: boolean) => Promise<CheckCommandDeps>
  readonly classify: ClassifyDeps
  /** Opens the store for one command and closes it afterwards. */
  readonly withCustomers: (work: (customers: CustomerCommandDeps) => Promise<void>) => Promise<void>
  readonly lists: ListsCommandDeps
  /** What this program is made of. */
  readonly inventory: () => Promise<Inventory>
  readonly backups: BackupDeps
  readonly store: StoreCopyDeps
  readonly doctor: RunDoctor
  /** Every setting: name, default, meaning. */
  readonly settings: readonly { readonly name: string; readonly default: string; readonly says: string }[]
}

/** Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong use. */
export async function runCommand(tools: CommandDeps, args: readonly string[]): Promise<number> {
  try {
    await createProgram(tools).parseAsync([...args], { from: "user" })
    return 0
  } catch (error) {
    // Commander has shown its own sentence already; its code is 0 after help and version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof CommandError)) throw error
    tools.output.stderrLine(`mailkind: ${error.message}`)
    return error.exitCode
  }
}

function createProgram(tools: CommandDeps): Command {
  const { output } = tools
  const root = new Command("mailkind")
    .description("Tells what an email address, a domain or a website URL is.")
    .exitOverride()
    .configureOutput({
      writeOut: text => output.line(text.trimEnd()),
      writeErr: text => output.stderrLine(text.trimEnd()),
    })
    .helpCommand(false)
  registerServe(root, tools.serve)
  registerCheck(root, tools)
  registerClassify(root, output, tools.openCheck, tools.classify)
  registerListsCommands(root, tools)
  registerAccountCommands(root, tools)
  registerKeyCommands(root, tools)
  registerFeedbackCommands(root, output, tools.withCustomers)
  registerTermsCommands(root, output, tools.withCustomers)
  registerOwnListCommands(root, output, tools.withCustomers)
  registerLicenceCommands(root, output, tools.inventory)
  registerBackupCommands(root, output, tools.backups)
  registerStoreCommands(root, output, tools.store)
  registerDoctor(root, output, tools.doctor)
  registerHelp(root, tools)
  return root
}

const JSON_FLAG = ["--json", "answer in JSON"] as const

function registerCheck(root: Command, { output, openCheck }: CommandDeps): void {
  root
    .command("check")
    .description("Check addresses, domains or URLs.")
    .argument("<input...>", "what to check")
    .addOption(
      new Option("--policy <policy>", "how strict the recommendation is").choices(POLICY_NAMES).default(POLICY_DEFAULT),
    )
    .option("--deep", "ask for domain age and homepage too", false)
    .option("--offline", "ask no network", false)
    .option(...JSON_FLAG, false)
    .action(async (inputs, { policy, deep, offline, json: asJson }) => {
      await checkCommand(output, await openCheck(offline), inputs, { policy, deep, json: asJson })
    })
}

function registerListsCommands(root: Command, { output, lists }: CommandDeps): void {
  const group = root.command("lists").description("Look into the lists, or build them.")
  group
    .command("info")
    .description("Tell version, sets and sources.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => listsInfo(output, lists, asJson))
  group
    .command("lookup")
    .description(
      "Tell what the lists say of a domain, who lists it, since when, under which licence, and how to report a mistake.",
    )
    .argument("<domain>", "a domain, or an address")
    .option(...JSON_FLAG, false)
    .action((domain, { json: asJson }) => listsLookup(output, lists, domain, asJson))
  group
    .command("build")
    .description("Build the lists from their sources, in a checkout.")
    .option("--quiet", "say something only when there was something to do", false)
    .option("--check", "fail when the result differs from data/manifest.json", false)
    .option("--shrink", "take lists that lost a fifth of their entries", false)
    .option(...JSON_FLAG, false)
    .action(options => listsBuild(output, lists.checkout, options))
  group
    .command("verify")
    .description("Read the lists whole and say whether every byte is right.")
    .argument("[file]", "a pack; the lists in use when absent")
    .option(...JSON_FLAG, false)
    .action((file, { json: asJson }) => listsVerify(output, lists, file ?? null, asJson))
  registerRefreshCommands(group, output, lists)
}

function registerAccountCommands(root: Command, { output, withCustomers }: CommandDeps): void {
  const group = root.command("account").description("Accounts and their tiers.")
  group
    .command("create")
    .argument("<email>")
    .addOption(new Option("--tier <n>", `0 to ${TIER_MAX}`).argParser(parseTier))
    .option(...JSON_FLAG, false)
    .action((email, { tier, json: asJson }) =>
      withCustomers(all => accountCreate(output, all, email, tier ?? null, asJson)),
    )
  group
    .command("list")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => withCustomers(all => accountList(output, all, asJson)))
  group
    .command("show")
    .argument("<email>")
    .option(...JSON_FLAG, false)
    .action((email, { json: asJson }) => withCustomers(all => accountShow(output, all, email, asJson)))
  group
    .command("tier")
    .argument("<email>")
    .argument("<n>", `0 to ${TIER_MAX}`, parseTier)
    .option(...JSON_FLAG, false)
    .action((email, tier, { json: asJson }) => withCustomers(all => accountTier(output, all, email, tier, asJson)))
  group
    .command("delete")
    .argument("<email>")
    .option(...JSON_FLAG, false)
    .action((email, { json: asJson }) => withCustomers(all => accountDelete(output, all, email, asJson)))
}

function registerKeyCommands(root: Command, { output, withCustomers }: CommandDeps): void {
  const group = root.command("key").description("Keys of an account.")
  group
    .command("create")
    .requiredOption("--account <email>", "whose key")
    .option("--name <name>", "a name to know the key by")
    .option("--publishable", "for pages: checks only, with reduced results", false)
    .option("--origin <origin>", "where a publishable key may be used from; may be given again", collect, [])
    .option(...JSON_FLAG, false)
    .action(({ account, name = null, publishable, origin: origins, json: asJson }) =>
      withCustomers(all => {
        const kind = publishable ? "publishable" : "secret"
        return keyCreate(output, all, account, { name, kind, origins }, asJson)
      }),
    )
  group
    .command("list")
    .requiredOption("--account <email>", "whose keys")
    .option(...JSON_FLAG, false)
    .action(({ account, json: asJson }) => withCustomers(all => keyList(output, all, account, asJson)))
  group
    .command("revoke")
    .argument("<id>", "the key's id, such as key_…")
    .option(...JSON_FLAG, false)
    .action((id, { json: asJson }) => withCustomers(all => keyRevoke(output, all, id, asJson)))
}

function registerHelp(root: Command, { output, version, settings }: CommandDeps): void {
  root
    .command("help")
    .description("Show help for a command, or the settings.")
    .argument("[topic...]", "a command, or `settings`")
    .option(...JSON_FLAG, false)
    .action((topic: string[], { json: asJson }: { json: boolean }) => {
      if (topic[0] === "settings") return printSettings(output, settings, asJson)
      const found = topic.reduce<Command | undefined>(
        (at, name) => at?.commands.find(command => command.name() === name),
        root,
      )
      if (found === undefined) throw new CommandError(`There is no command \`${topic.join(" ")}\`.`, 2)
      output.line(found.helpInformation().trimEnd())
    })
  root
    .command("version")
    .description("Print the version.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => {
      if (asJson) printJson(output, { version })
      else output.line(version)
    })
}

function printSettings(output: Output, settings: CommandDeps["settings"], asJson: boolean): void {
  if (asJson) {
    printJson(output, settings)
    return
  }
  for (const { name, default: fallback, says } of settings) {
    output.line(`${name}  (default: ${fallback})`)
    output.line(`  ${says}`)
  }
}

/** An option that may be given again. */
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

function parseTier(text: string): number {
  if (!/^\d$/.test(text) || Number(text) > TIER_MAX)
    throw new InvalidArgumentError(`A tier is a number from 0 to ${TIER_MAX}.`)
  return Number(text)
}
