/** What the system's codes say, as the rest of a sentence about a file. */
const SAYS: Readonly<Record<string, string>> = {
  EACCES: "it may not be opened by this user",
  EDQUOT: "the quota of this user is used up",
  EFBIG: "it is as large as a file may be",
  EIO: "the device failed",
  EISDIR: "it is a directory",
  ENOENT: "there is no such file or directory",
  ENOSPC: "there is no space left",
  ENOTDIR: "a part of its path is no directory",
  EPERM: "it may not be opened by this user",
  EROFS: "it may not be written to",
}

/** Why the system did not let a file be read or written; null: the error is not the system's, or says only that whoever read our output has enough. */
export function streamFault(error: unknown): string | null {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return null
  if (error.code === "EPIPE" || !/^E[A-Z0-9]+$/.test(error.code)) return null
  return SAYS[error.code] ?? `the system says ${error.code}`
}
