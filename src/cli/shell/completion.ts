import { allCommands, type CommandNode, type OptionNode } from "./command-tree.ts"

/** The shells that have completions. */
export const SHELLS = ["bash", "zsh", "fish"] as const
export type Shell = (typeof SHELLS)[number]

/** The script that completes commands, options and their values in a shell. */
export const completionScript = (shell: Shell, root: CommandNode): string => SCRIPTS[shell](root)

const SCRIPTS: Readonly<Record<Shell, (root: CommandNode) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

const pathText = (node: CommandNode): string => node.path.join(" ")

/** Whether a word of the command may be a file. */
const takesFiles = (node: CommandNode): boolean => node.children.length === 0 && pathText(node) !== "completion"

/** The options of all commands that have fixed values, once each. */
function optionsWithValues(root: CommandNode): readonly OptionNode[] {
  const options = allCommands(root).flatMap(({ options }) => options.filter(({ values }) => values.length > 0))
  return [...new Map(options.map(option => [`${option.names.join()} ${option.values.join()}`, option])).values()]
}

/** The text between single quotes of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Shell code that sets `mailkind_path` to the commands in the words before the cursor. */
function pathCases(root: CommandNode): string {
  const patterns = allCommands(root)
    .filter(({ path }) => path.length > 0)
    .map(node => quoted(pathText(node)))
  return `case "\${mailkind_path:+$mailkind_path }$word" in\n      ${patterns.join("|")}) mailkind_path="\${mailkind_path:+$mailkind_path }$word" ;;\n    esac`
}

function bashScript(root: CommandNode): string {
  const words = ({ children, options, path }: CommandNode): string =>
    [...children.map(child => child.path.at(-1) ?? ""), ...options.flatMap(({ names }) => names)]
      .concat(path.join() === "completion" ? SHELLS : [])
      .join(" ")
  const byPath = allCommands(root).map(node => `    ${quoted(pathText(node))}) words=${quoted(words(node))} ;;`)
  const byOption = optionsWithValues(root).map(
    ({ names, values }) => `    ${names.join("|")}) words=${quoted(values.join(" "))} ;;`,
  )
  return `# Completions of mailkind for bash. Load them with: source <(mailkind completion bash)
_mailkind() {
  local word words="" mailkind_path="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${pathCases(root)}
  done
  case "$mailkind_path" in
${byPath.join("\n")}
  esac
  case "$previous" in
${byOption.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _mailkind mailkind
`
}

/** A word with its description for `_describe`, which takes a colon for the end of the word. */
const described = (word: string, description: string): string =>
  quoted(`${word.replaceAll(":", "\\:")}:${description.replaceAll("\n", " ")}`)

function zshScript(root: CommandNode): string {
  const items = ({ children, options, path }: CommandNode): string =>
    [
      ...children.map(child => described(child.path.at(-1) ?? "", child.summary)),
      ...options.flatMap(({ names, description }) => names.map(name => described(name, description))),
      ...(path.join() === "completion" ? SHELLS.map(shell => described(shell, "this shell")) : []),
    ].join(" ")
  const byPath = allCommands(root).map(
    node => `    ${quoted(pathText(node))}) items=(${items(node)})${takesFiles(node) ? "" : " files=:"} ;;`,
  )
  const byOption = optionsWithValues(root).map(
    ({ names, values }) => `    ${names.join("|")}) items=(${values.map(quoted).join(" ")}) files=: ;;`,
  )
  return `#compdef mailkind
# Completions of mailkind for zsh. Load them with: source <(mailkind completion zsh)
_mailkind() {
  local word mailkind_path="" files=_files
  local -a items
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${pathCases(root)}
  done
  case "$mailkind_path" in
${byPath.join("\n")}
  esac
  case "\${words[CURRENT-1]}" in
${byOption.join("\n")}
  esac
  _describe mailkind items
  $files
}
compdef _mailkind mailkind
`
}

/** A text between single quotes of fish, which has two escapes there. */
const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

function fishScript(root: CommandNode): string {
  const lines = allCommands(root).flatMap(node => [
    ...(takesFiles(node) ? [] : [fishCondition(node, "-f")]),
    ...node.children.map(child => fishLine(node, `-a ${fishQuoted(child.path.at(-1) ?? "")}`, child.summary)),
    ...node.options.map(option => fishLine(node, fishOption(option), option.description)),
    ...(pathText(node) === "completion" ? [fishLine(node, `-a ${fishQuoted(SHELLS.join(" "))}`, "a shell")] : []),
  ])
  const names = allCommands(root).flatMap(({ path }) => (path.length > 0 ? [fishQuoted(path.join(" "))] : []))
  return `# Completions of mailkind for fish. Load them with: mailkind completion fish | source
function __mailkind_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$at $word")
    contains -- $next ${names.join(" ")}; and set at $next
  end
  test "$at" = "$argv"
end
${lines.join("\n")}
`
}

const fishCondition = (node: CommandNode, what: string): string =>
  `complete -c mailkind -n ${fishQuoted(`__mailkind_at ${pathText(node)}`.trim())} ${what}`

const fishLine = (node: CommandNode, what: string, description: string): string =>
  `${fishCondition(node, what)} -d ${fishQuoted(description)}`

function fishOption({ names, takesValue, values }: OptionNode): string {
  const flags = names.map(name => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ")
  if (values.length > 0) return `${flags} -x -a ${fishQuoted(values.join(" "))}`
  return takesValue ? `${flags} -r` : flags
}
