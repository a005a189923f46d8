import { EXIT_CODES } from "../output.ts"
import { allCommands, type CommandNode, type OptionNode } from "./command-tree.ts"

/** What the page says besides the commands. */
export type ManPageFacts = {
  readonly version: string
  readonly settings: readonly { readonly name: string; readonly default: string; readonly says: string }[]
}

/** The manual page of the program in roff (`man` macros). */
export function manPage(root: CommandNode, { version, settings }: ManPageFacts): string {
  const commands = allCommands(root).filter(({ path, children }) => path.length > 0 && children.length === 0)
  return [
    `.TH MAILKIND 1 "" ${argument(`mailkind ${version}`)} "User Commands"`,
    ".SH NAME",
    `mailkind \\- ${escaped(root.summary)}`,
    ".SH SYNOPSIS",
    ".B mailkind",
    "[options] [command]",
    ".SH OPTIONS",
    ...root.options.flatMap(optionLines),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT_CODES).flatMap(([code, { description }]) => entry(code, description.replaceAll("`", ""))),
    ".SH ENVIRONMENT",
    ...entry("NO_COLOR", "If it is set, nothing is printed in colours."),
    ...settings.flatMap(({ name, default: fallback, says }) =>
      entry(name, `${says.replaceAll("`", "")} Default: ${fallback}.`),
    ),
    "",
  ].join("\n")
}

function commandLines({ path, usage, description, arguments: named, options }: CommandNode): readonly string[] {
  const [first = "", ...rest] = description.split(/\n\n+/)
  return [
    `.SS ${argument(`mailkind ${path.join(" ")} ${usage}`)}`,
    escaped(first),
    ...rest.flatMap(paragraph => [".PP", ".nf", ...paragraph.split("\n").map(escaped), ".fi"]),
    ...named.flatMap(({ name, description }) => entry(name, description)),
    ...options.filter(({ names }) => !names.includes("--help")).flatMap(optionLines),
  ]
}

const optionLines = ({ flags, description, values }: OptionNode): readonly string[] =>
  entry(flags, values.length === 0 ? description : `${description}: ${values.join(", ")}`)

const entry = (term: string, description: string): readonly string[] => [
  ".TP",
  `.B ${escaped(term)}`,
  ...description.split("\n").map(escaped),
]

/** Backslashes and hyphens are escaped, and a line that would begin like a request. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-")
  return /^[.']/.test(plain) ? `\\&${plain}` : plain
}

const argument = (text: string): string => `"${escaped(text).replaceAll('"', '""')}"`
