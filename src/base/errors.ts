/** A fault of our own, not of the caller. Its message is logged and never sent. */
export class InvariantError extends Error {
  override readonly name = "InvariantError"
}

/** Throws `InvariantError` unless the condition holds. Only for promises between our own parts. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** The code of a system error, such as `ECONNRESET`, else the name of the error. Unlike its message it never repeats a path or URL. */
export const errorCode = (error: unknown): string =>
  error instanceof Error ? ("code" in error && typeof error.code === "string" ? error.code : error.name) : "no error"

/** Whether the error comes from the system, and has one of the codes if any are given. */
export const isSystemError = (
  error: unknown,
  ...codes: readonly string[]
): error is Error & { readonly code: unknown } =>
  error instanceof Error &&
  "code" in error &&
  (codes.length === 0 || (typeof error.code === "string" && codes.includes(error.code)))

/** What `read` gives; null where the system refuses it, or has no such file. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** The same error, with the path if it is one of the system about an open file, which names none. */
export function withPath(error: unknown, path: string): unknown {
  return isSystemError(error) && !("path" in error) ? Object.assign(error, { path }) : error
}

/** The server or command cannot start. The message tells the operator why and what to do. */
export class StartupError extends Error {
  override readonly name = "StartupError"
}
