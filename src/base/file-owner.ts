import { statSync } from "node:fs"
import { isSystemError } from "./errors.ts"

/** Whose a path that exists is, its mode, and who this process runs as; null: it cannot be looked at. */
export function describeOwner(path: string): string | null {
  try {
    const { uid, mode } = statSync(path)
    const octal = `0${(mode & 0o7777).toString(8)}`
    return `${path} belongs to the user ${uid} and has mode ${octal}; this process runs as the user ${process.geteuid?.() ?? "unknown"}`
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}
