import { existsSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../architecture/source-files.ts"

const PROGRAM = join(ROOT, `node_modules/@flydotio/litestream-${process.platform}-${process.arch}/litestream`)

/** The program Litestream of the package `@flydotio/litestream`; null: it is not installed, or has none for this system. */
export const LITESTREAM: string | null = existsSync(PROGRAM) ? PROGRAM : null
