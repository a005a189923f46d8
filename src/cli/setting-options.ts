import { type Command, Option } from "commander"

/** A flag for a setting: `--port <number>` for `MAILKIND_PORT`. */
export type SettingFlag = { readonly setting: string; readonly flag: string; readonly description: string }

/** What the command line says about settings. */
export type ChosenSettings = {
  readonly configFile: string | null
  readonly flags: readonly { readonly setting: string; readonly flag: string; readonly text: string }[]
}

const CONFIG_FLAG = ["--config <file>", "read settings from a TOML file"] as const

/** Commands that have the flags in their help, since they are about a server. The others take them without telling. */
const ABOUT_SERVERS: ReadonlySet<string> = new Set(["serve", "doctor", "config show"])

/**
 * Lets each command take `--config` and the flags of settings, and calls `choose` with them before it begins. Call it after all
 * commands are registered.
 */
export function addSettingOptions(
  root: Command,
  flags: readonly SettingFlag[],
  choose: (chosen: ChosenSettings) => void,
): void {
  const config = new Option(...CONFIG_FLAG)
  const options = flags.map(({ setting, flag, description }) => ({ setting, option: new Option(flag, description) }))
  root.addOption(config)
  // Commands share options: to read the text of one takes longer than to add it.
  const texts = [CONFIG_FLAG, ...flags.map(({ flag, description }) => [flag, description] as const)]
  const shown = texts.map(text => new Option(...text))
  const hidden = texts.map(text => new Option(...text).hideHelp())
  for (const command of leavesOf(root))
    for (const option of ABOUT_SERVERS.has(nameBelow(root, command)) ? shown : hidden) command.addOption(option)
  root.hook("preAction", (_, command) => {
    const given: Readonly<Record<string, unknown>> = { ...root.opts(), ...command.opts() }
    const chosen = options.flatMap(({ setting, option }) => {
      const text = given[option.attributeName()]
      return typeof text === "string" ? [{ setting, flag: option.long ?? option.flags, text }] : []
    })
    const file = given[config.attributeName()]
    choose({ configFile: typeof file === "string" ? file : null, flags: chosen })
  })
}

/** The words of a command after the program's name. */
function nameBelow(root: Command, command: Command): string {
  const { parent } = command
  return parent === null || parent === root ? command.name() : `${nameBelow(root, parent)} ${command.name()}`
}

/** The commands that do something, rather than group others. */
function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}
