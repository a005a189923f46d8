import { Command, CommanderError, InvalidArgumentError, Option } from "commander"
import { POLICY_DEFAULT, POLICY_NAMES } from "../contract/policies.ts"
import { TIER_MAX } from "../contract/tiers.ts"
import type { Inventory } from "../supply/inventory.ts"
import { accountCreate, accountDelete, accountList, accountShow, accountTier, type Customers } from "./accounts.ts"
import { type BackupTools, backupCommands } from "./backup.ts"
import { type Checker, checkCommand } from "./check.ts"
import { classifyCommands } from "./classify/command.ts"
import type { ClassifyTools } from "./classify/run.ts"
import { type Doctor, doctorCommand } from "./doctor.ts"
import { feedbackCommands } from "./feedback.ts"
import { keyCreate, keyList, keyRevoke } from "./keys.ts"
import { licenceCommands } from "./licences.ts"
import { type ListsTools, listsLookup, listsState, listsVerify } from "./lists.ts"
import { listsBuild } from "./lists-build.ts"
import { refreshCommands } from "./lists-update.ts"
import { CommandFailure, json, type Output } from "./output.ts"
import { ownListCommands } from "./own-lists.ts"
import { type ServeOptions, serveCommand } from "./serve.ts"
import { type StoreTools, storeCommands } from "./store-copy.ts"
import { termsCommands } from "./terms.ts"

/** What the commands are given; each part is made when a command asks for it. */
export type Tools = {
  readonly output: Output
  readonly version: string
  readonly serve: (options: ServeOptions) => Promise<void>
  /** `isOffline`: nothing outside of this machine is asked. */
  readonly checker: (isOffline: boolean) => Promise<Checker>
  readonly classify: ClassifyTools
  /** Opens the store for one command and closes it afterwards. */
  readonly withCustomers: (work: (customers: Customers) => Promise<void>) => Promise<void>
  readonly lists: ListsTools
  /** What this program is made of. */
  readonly inventory: () => Promise<Inventory>
  readonly backups: BackupTools
  readonly store: StoreTools
  readonly doctor: Doctor
  /** Every setting: name, default, meaning. */
  readonly settings: readonly { readonly name: string; readonly default: string; readonly says: string }[]
}

/** Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong use. */
export async function runCommand(tools: Tools, args: readonly string[]): Promise<number> {
  try {
    await program(tools).parseAsync([...args], { from: "user" })
    return 0
  } catch (error) {
    // Commander has shown its own sentence already; its code is 0 after help and version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof CommandFailure)) throw error
    tools.output.aside(`mailkind: ${error.message}`)
    return error.exitCode
  }
}

function program(tools: Tools): Command {
  const { output } = tools
  const root = new Command("mailkind")
    .description("Tells what an email address, a domain or a website URL is.")
    .exitOverride()
    .configureOutput({ writeOut: text => output.line(text.trimEnd()), writeErr: text => output.aside(text.trimEnd()) })
    .helpCommand(false)
  serveCommand(root, tools.serve)
  checkCommands(root, tools)
  classifyCommands(root, output, tools.checker, tools.classify)
  listsCommands(root, tools)
  accountCommands(root, tools)
  keyCommands(root, tools)
  feedbackCommands(root, output, tools.withCustomers)
  termsCommands(root, output, tools.withCustomers)
  ownListCommands(root, output, tools.withCustomers)
  licenceCommands(root, output, tools.inventory)
  backupCommands(root, output, tools.backups)
  storeCommands(root, output, tools.store)
  doctorCommand(root, output, tools.doctor)
  helpCommands(root, tools)
  return root
}

const JSON_FLAG = ["--json", "answer in JSON"] as const

function checkCommands(root: Command, { output, checker }: Tools): void {
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
      await checkCommand(output, await checker(offline), inputs, { policy, deep, json: asJson })
    })
}

function listsCommands(root: Command, { output, lists }: Tools): void {
  const group = root.command("lists").description("Look into the lists, or build them.")
  group
    .command("info")
    .description("Tell version, sets and sources.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => listsState(output, lists, asJson))
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
  refreshCommands(group, output, lists)
}

function accountCommands(root: Command, { output, withCustomers }: Tools): void {
  const group = root.command("account").description("Accounts and their tiers.")
  group
    .command("create")
    .argument("<email>")
    .addOption(new Option("--tier <n>", `0 to ${TIER_MAX}`).argParser(tierNumber))
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
    .argument("<n>", `0 to ${TIER_MAX}`, tierNumber)
    .option(...JSON_FLAG, false)
    .action((email, tier, { json: asJson }) => withCustomers(all => accountTier(output, all, email, tier, asJson)))
  group
    .command("delete")
    .argument("<email>")
    .option(...JSON_FLAG, false)
    .action((email, { json: asJson }) => withCustomers(all => accountDelete(output, all, email, asJson)))
}

function keyCommands(root: Command, { output, withCustomers }: Tools): void {
  const group = root.command("key").description("Keys of an account.")
  group
    .command("create")
    .requiredOption("--account <email>", "whose key")
    .option("--name <name>", "a name to know the key by")
    .option("--publishable", "for pages: checks only, with reduced results", false)
    .option("--origin <origin>", "where a publishable key may be used from; may be given again", also, [])
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

function helpCommands(root: Command, { output, version, settings }: Tools): void {
  root
    .command("help")
    .description("Show help for a command, or the settings.")
    .argument("[topic...]", "a command, or `settings`")
    .option(...JSON_FLAG, false)
    .action((topic: string[], { json: asJson }: { json: boolean }) => {
      if (topic[0] === "settings") return settingsHelp(output, settings, asJson)
      const found = topic.reduce<Command | undefined>(
        (at, name) => at?.commands.find(command => command.name() === name),
        root,
      )
      if (found === undefined) throw new CommandFailure(`There is no command \`${topic.join(" ")}\`.`, 2)
      output.line(found.helpInformation().trimEnd())
    })
  root
    .command("version")
    .description("Print the version.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => {
      if (asJson) json(output, { version })
      else output.line(version)
    })
}

function settingsHelp(output: Output, settings: Tools["settings"], asJson: boolean): void {
  if (asJson) {
    json(output, settings)
    return
  }
  for (const { name, default: fallback, says } of settings) {
    output.line(`${name}  (default: ${fallback})`)
    output.line(`  ${says}`)
  }
}

/** An option that may be given again. */
const also = (value: string, before: readonly string[]): readonly string[] => [...before, value]

function tierNumber(text: string): number {
  if (!/^\d$/.test(text) || Number(text) > TIER_MAX)
    throw new InvalidArgumentError(`A tier is a number from 0 to ${TIER_MAX}.`)
  return Number(text)
}
