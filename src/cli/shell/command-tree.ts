import type { Command, Option } from "commander"

/** A command as its help shows it, without what is hidden. */
export type CommandNode = {
  /** The words of the command, without the program's name: `key create`. */
  readonly path: readonly string[]
  readonly usage: string
  readonly summary: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly OptionNode[]
  readonly children: readonly CommandNode[]
}

/** An option of a command. `values`: what it may be; empty: any text. */
export type OptionNode = {
  readonly flags: string
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  readonly values: readonly string[]
}

const HELP: OptionNode = {
  flags: "-h, --help",
  names: ["-h", "--help"],
  description: "show help",
  takesValue: false,
  values: [],
}

/** Reads the commands below `command`, whose words are `path`. */
export function readCommands(command: Command, path: readonly string[] = []): CommandNode {
  return {
    path,
    usage: command.usage(),
    summary: command.summary() === "" ? (command.description().split("\n")[0] ?? "") : command.summary(),
    description: command.description(),
    arguments: command.registeredArguments.map(argument => ({
      name: argument.name(),
      description: argument.description,
    })),
    options: [...command.options.filter(({ hidden }) => !hidden).map(readOption), HELP],
    children: command
      .createHelp()
      .visibleCommands(command)
      // Commander gives each group a command for help, which `--help` is too.
      .filter(child => path.length === 0 || child.name() !== "help")
      .map(child => readCommands(child, [...path, child.name()])),
  }
}

const readOption = ({ flags, short, long, description, required, optional, argChoices }: Option): OptionNode => ({
  flags,
  names: [short, long].filter(name => name !== undefined && name !== null),
  description,
  takesValue: required || optional,
  values: argChoices ?? [],
})

/** A command and all below it. */
export const allCommands = (node: CommandNode): readonly CommandNode[] => [node, ...node.children.flatMap(allCommands)]
