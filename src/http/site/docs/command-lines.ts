import PRODUCT from "../../../../package.json" with { type: "json" }

/** Runs a script of a checkout where nothing but npm is installed: Bun of the version that the program is made for. */
const RUN = `npx --yes ${PRODUCT.packageManager} run`

/** How the program is called in a checkout. */
export const CHECKOUT_COMMAND = `${RUN} mailkind`

/** The blocks of a page that a shell runs. */
const SHELL_BLOCK = /^```(?:sh|powershell)\b[^\n]*\n[\s\S]*?^```$/gm

/**
 * Writes the command lines of a page as people can run them: `mailkind …` as `command`, and `bun run …` without a Bun of their own.
 * What stands in the text around the blocks is the name of the program and of the script.
 */
export const withRunnableCommands = (markdown: string, command: string): string =>
  markdown.replace(SHELL_BLOCK, block =>
    block
      .replace(/(^|(?:&&|\|\||\|) )mailkind (?=[a-z])/gm, (_, before: string) => `${before}${command} `)
      .replace(/(^|(?:&&|\|\||\|) )bun run (?=[a-z])/gm, (_, before: string) => `${before}${RUN} `),
  )
