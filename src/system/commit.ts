import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isSystemError } from "../base/errors.ts"

const DIGITS = 12

/** The first 12 digits of the commit that is checked out in a directory; null: it is no git checkout, or its commit cannot be read. */
export function checkedOutCommit(root: string): string | null {
  try {
    const git = join(root, ".git")
    if (!existsSync(join(git, "HEAD"))) return null
    const head = readFileSync(join(git, "HEAD"), "utf8").trim()
    const branch = /^ref: (\S+)$/.exec(head)?.[1]
    const id = branch === undefined ? head : branchCommit(git, branch)
    return id !== null && /^[0-9a-f]{40,64}$/.test(id) ? id.slice(0, DIGITS) : null
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** A branch has a file of its own, or a line among the packed ones. */
function branchCommit(git: string, branch: string): string | null {
  if (existsSync(join(git, branch))) return readFileSync(join(git, branch), "utf8").trim()
  const packed = join(git, "packed-refs")
  const lines = existsSync(packed) ? readFileSync(packed, "utf8").split("\n") : []
  return lines.find(line => line.endsWith(` ${branch}`))?.split(" ")[0] ?? null
}
