import { test } from "bun:test"

const PYTHON = Bun.which("python3")

/** A test that needs Python's standard library for what Bun cannot do; it is skipped where there is no Python. */
export const withPython = (promise: string, run: (python: string) => Promise<void>): void =>
  test.skipIf(PYTHON === null)(PYTHON === null ? `${promise} (skipped: python3 is not installed)` : promise, () =>
    run(PYTHON ?? ""),
  )
