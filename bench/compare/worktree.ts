import { mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A tree of the product that can be run: its dependencies are there and its lists are built. */
export type Tree = { readonly path: string; readonly commit: string }

/** No commit has that name. */
export class UnknownRef extends Error {
  override readonly name = "UnknownRef"
}

/** The commit that `ref` names in the repository at `root`, shortened. Throws `UnknownRef`. */
export function commitOf(root: string, ref: string): string {
  const found = git(root, "rev-parse", "--verify", "--quiet", "--short=12", "--end-of-options", `${ref}^{commit}`)
  if (!found.success) throw new UnknownRef(`git knows no commit ${ref}`)
  return found.reply
}

/**
 * Checks `commit` out beside the repository at `root`, into a temporary directory, and makes it ready to run. Disposing
 * of it removes the directory and what git wrote down of it. Rejects, with everything removed again, when a step fails
 * or `signal` is aborted.
 */
export async function worktreeOf(root: string, commit: string, signal: AbortSignal): Promise<Tree & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), "mailkind-compare-"))
  const path = join(directory, "tree")
  const remove = async (): Promise<void> => {
    // Twice forced, it is removed even when its making was cut off, which leaves it locked.
    git(root, "worktree", "remove", "--force", "--force", path)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const added = git(root, "worktree", "add", "--detach", "--quiet", path, commit)
    if (!added.success) throw new Error(`git worktree add failed: ${added.complaint}`)
    signal.throwIfAborted()
    await giveDependencies(root, path, signal)
    await buildLists(path, signal)
    return { path, commit, [Symbol.asyncDispose]: remove }
  } catch (fault) {
    await remove()
    throw fault
  }
}

/** Packs the lists of a tree, unless they are packed. Rejects when that fails or `signal` is aborted. */
export const buildLists = (path: string, signal: AbortSignal): Promise<void> =>
  done([process.execPath, join("src", "main.ts"), "lists", "build", "--quiet"], path, signal)

/** The same lock file means the same dependencies: those of `root` serve both. Others are installed. */
async function giveDependencies(root: string, path: string, signal: AbortSignal): Promise<void> {
  const [ours, theirs] = await Promise.all([root, path].map(tree => Bun.file(join(tree, "bun.lock")).text()))
  if (ours === theirs) await symlink(join(root, "node_modules"), join(path, "node_modules"))
  else await done([process.execPath, "install", "--frozen-lockfile", "--silent"], path, signal)
}

async function done(command: readonly string[], cwd: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe", signal })
  const [complaint, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited])
  signal.throwIfAborted()
  if (exitCode !== 0) throw new Error(`${command.slice(1).join(" ")} failed in ${cwd}: ${complaint.trim()}`)
}

/** Git writes its state within one call, so it is waited for: nothing of ours runs between its steps. */
function git(root: string, ...args: readonly string[]) {
  const { success, stdout, stderr } = Bun.spawnSync(["git", "-C", root, ...args], { stdin: "ignore" })
  return { success, reply: stdout.toString().trim(), complaint: stderr.toString().trim() }
}
