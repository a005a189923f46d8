import { afterEach, describe, expect, test } from "bun:test"
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { commitOf, UnknownRef, worktreeOf } from "../../bench/compare/worktree.ts"
import { outcomeOf } from "../support/outcome-of.ts"

const LIMIT_MS = 300_000
const GIT = Bun.which("git")
const WITHOUT_GIT = GIT === null ? " (skipped: git is not installed)" : ""
const never = new AbortController().signal
const BUILDS = "require('node:fs').writeFileSync('built', process.argv.slice(2).join(' '))"

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** A repository with one commit: a lock file, and a program whose lists are built by `program`. */
async function repository(program: string) {
  const root = mkdtempSync(join(tmpdir(), "mailkind-repository-"))
  directories.push(root)
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true })
    await Bun.write(join(root, file), text)
  }
  const git = (...args: readonly string[]): string => {
    const who = ["-c", "user.name=jane", "-c", "user.email=jane@example.com", "-c", "commit.gpgsign=false"]
    return Bun.spawnSync(["git", "-C", root, ...who, ...args]).stdout.toString()
  }
  await write("package.json", "{}")
  await write("bun.lock", "{}")
  await write("src/main.ts", program)
  await write("node_modules/there", "")
  git("init", "--quiet")
  git("add", "package.json", "bun.lock", "src")
  git("commit", "--quiet", "-m", "first")
  return { root, write, git, worktrees: () => git("worktree", "list").trim().split("\n").length }
}

describe.skipIf(GIT === null)(`worktreeOf${WITHOUT_GIT}`, () => {
  test(
    "gives the commit as it was, ready to run, and leaves nothing behind",
    async () => {
      const { root, write, worktrees } = await repository(BUILDS)
      await write("src/main.ts", "changed since")
      let path = ""
      {
        await using tree = await worktreeOf(root, commitOf(root, "HEAD"), never)
        path = tree.path
        expect(readFileSync(join(path, "src/main.ts"), "utf8")).toBe(BUILDS)
        expect(readFileSync(join(path, "built"), "utf8")).toBe("lists build --quiet")
        expect(lstatSync(join(path, "node_modules")).isSymbolicLink()).toBe(true)
        expect(existsSync(join(path, "node_modules/there"))).toBe(true)
        expect(worktrees()).toBe(2)
      }
      expect([existsSync(path), existsSync(dirname(path)), worktrees()]).toEqual([false, false, 1])
      expect(readFileSync(join(root, "src/main.ts"), "utf8")).toBe("changed since")
      expect(existsSync(join(root, "node_modules/there"))).toBe(true)
    },
    LIMIT_MS,
  )

  test(
    "a directory that somebody else removed is forgotten all the same",
    async () => {
      const { root, worktrees } = await repository(BUILDS)
      const tree = await worktreeOf(root, commitOf(root, "HEAD"), never)
      rmSync(dirname(tree.path), { recursive: true })
      await tree[Symbol.asyncDispose]()
      expect(worktrees()).toBe(1)
    },
    LIMIT_MS,
  )

  test(
    "dependencies are installed anew when the lock file is another",
    async () => {
      const { root, write } = await repository(BUILDS)
      await write("bun.lock", "{ }")
      // The lock file of the commit is none that the installer takes, so it complains: the dependencies here were not used.
      expect(await outcomeOf(worktreeOf(root, commitOf(root, "HEAD"), never))).toThrow("install --frozen-lockfile")
    },
    LIMIT_MS,
  )

  test(
    "a step that fails is told, and nothing is left behind",
    async () => {
      const { root, worktrees } = await repository("console.error('no sources'); process.exit(3)")
      expect(await outcomeOf(worktreeOf(root, commitOf(root, "HEAD"), never))).toThrow("no sources")
      expect(worktrees()).toBe(1)
    },
    LIMIT_MS,
  )

  test(
    "an interruption ends what is under way, and nothing is left behind",
    async () => {
      // It says that it runs, and never ends by itself.
      const { root, worktrees } = await repository(
        "process.kill(process.ppid, 'SIGUSR2'); setInterval(() => {}, 300_000)",
      )
      const interruption = new AbortController()
      process.once("SIGUSR2", () => interruption.abort())
      const tree = worktreeOf(root, commitOf(root, "HEAD"), interruption.signal)
      expect(await outcomeOf(tree)).toThrow("abort")
      expect(worktrees()).toBe(1)
    },
    LIMIT_MS,
  )

  test("a name that is no commit's is refused, and no option of git", async () => {
    const { root } = await repository(BUILDS)
    for (const ref of ["nowhere", "", "--all", "HEAD:package.json"])
      expect(() => commitOf(root, ref)).toThrow(UnknownRef)
    expect(commitOf(root, "HEAD")).toMatch(/^[0-9a-f]{12}$/)
  })
})
