import { dlopen, type FFIFunction, type Library } from "bun:ffi"

/** The names of the C library: of glibc, and of musl by architecture. */
const LIBC_NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"]

/** Opens functions of the C library, which the caller closes; null: this is not Linux, or it has none of them. */
export function openLibc<Symbols extends Record<string, FFIFunction>>(symbols: Symbols): Library<Symbols> | null {
  if (process.platform !== "linux") return null
  for (const name of LIBC_NAMES) {
    try {
      return dlopen(name, symbols)
    } catch (error) {
      if (!(error instanceof Error)) throw error
    }
  }
  return null
}
