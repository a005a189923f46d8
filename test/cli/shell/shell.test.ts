import { describe, expect, test } from "bun:test"
import { Command, Option } from "commander"
import { type CommandNode, readCommands } from "../../../src/cli/shell/command-tree.ts"
import { completionScript, SHELLS } from "../../../src/cli/shell/completion.ts"
import { manPage } from "../../../src/cli/shell/man-page.ts"

/** A program with a group, values, and text that shells and roff would take for their own. */
function program(): CommandNode {
  const root = new Command("mailkind").helpCommand(false).description("Check things.").version("1.0.0", "-V, --version")
  const key = root.command("key").description("Keys.")
  key.command("create").description("It's a `key`: $(reboot).").option("--name <name>", "a \\name")
  key.command("revoke").description("Revoke a key.").argument("<id>", "which")
  root
    .command("check")
    .description("Check it.\n\n.hidden request\nsecond line")
    .addOption(new Option("--policy <policy>", "how strict").choices(["lenient", "strict"]))
    .addOption(new Option("--secret").hideHelp())
  root.command("worker", { hidden: true })
  return readCommands(root)
}

/** What bash offers at the end of a line of words. */
async function bashOffers(...words: string[]): Promise<readonly string[]> {
  const script = `${completionScript("bash", program())}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mailkind; printf '%s\\n' "\${COMPREPLY[@]}"`
  const child = Bun.spawn(["bash", "-c", script, "bash", "mailkind", ...words], { stdout: "pipe", stderr: "inherit" })
  return (await new Response(child.stdout).text()).trimEnd().split("\n")
}

describe("completions", () => {
  test("in bash are the commands, then the options of a command, then the values of an option", async () => {
    expect(await bashOffers("")).toEqual(["key", "check", "-V", "--version", "-h", "--help"])
    expect(await bashOffers("k")).toEqual(["key"])
    expect(await bashOffers("key", "c")).toEqual(["create"])
    expect(await bashOffers("key", "create", "--")).toEqual(["--name", "--help"])
    expect(await bashOffers("check", "--p")).toEqual(["--policy"])
    expect(await bashOffers("check", "a@b.com", "--policy", "s")).toEqual(["strict"])
    expect(await bashOffers("check", "--s")).toEqual([""])
  })

  test.each(SHELLS)("for %s name every command and option, and run nothing of a description", shell => {
    const script = completionScript(shell, program())
    for (const word of ["key", "create", "revoke", "check", "policy", "name", "lenient", "strict"])
      expect(script).toContain(word)
    expect(script).not.toMatch(/worker|secret/)
    if (shell !== "bash") expect(script).toMatch(shell === "zsh" ? /It'\\''s a `key`/ : /It\\'s a `key`/)
  })

  test("in zsh and fish no files stand among the commands of a group and the values of an option", () => {
    const zsh = completionScript("zsh", program())
    expect(zsh).toMatch(/'key'\) items=\(.*\) files=: ;;/)
    expect(zsh).toMatch(/--policy\) items=\(.*\) files=: ;;/)
    expect(zsh).toMatch(/'check'\) items=\(.*\) ;;/)
    expect(zsh).not.toMatch(/'check'\) items=\(.*files/)
    const fish = completionScript("fish", program())
    expect(fish).toContain("complete -c mailkind -n '__mailkind_at key' -f\n")
    expect(fish).not.toContain("complete -c mailkind -n '__mailkind_at check' -f\n")
  })
})

describe("the manual page", () => {
  const page = manPage(program(), {
    version: "1.0.0",
    settings: [{ name: "MAILKIND_PORT", default: "80", says: "The port." }],
  })

  test("has every command with its options and arguments, the settings and the exit codes", () => {
    for (const text of [
      "mailkind key create",
      "mailkind check",
      "\\-\\-policy",
      "lenient, strict",
      "MAILKIND_PORT",
      ".SH EXIT STATUS",
      "\\-\\-fail\\-on",
    ])
      expect(page).toContain(text)
    expect(page).not.toMatch(/worker|secret/)
  })

  test("gives roff no request but its own", () => {
    expect(page).toContain("\\&.hidden request")
    expect(page).toContain("a \\ename")
  })

  test.if(Bun.which("groff") !== null)("is formatted without a warning", async () => {
    const child = Bun.spawn(["groff", "-man", "-Tutf8", "-ww"], {
      stdin: Buffer.from(page),
      stdout: "pipe",
      stderr: "pipe",
    })
    expect(await new Response(child.stderr).text()).toBe("")
    expect(Bun.stripANSI(await new Response(child.stdout).text())).toContain("how strict: lenient, strict")
  })
})
