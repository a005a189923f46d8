import { PROGRAM, productSettings } from "./product.ts"
import { runToEnd } from "./server-process.ts"

/** Settings under which every step of a limited caller is taken, and nothing is refused. */
export const HIGH_LIMITS: Readonly<Record<string, string>> = { MAILKIND_TIERS: "0=1000000/100000/1000000000" }

const EMAIL = "load@example.com"
const COMMAND_TIMEOUT_MS = 30_000

/** The text of a secret key of a new account with limits, made as an operator makes it in that directory. */
export async function limitedKey(directory: string): Promise<string> {
  const run = (...words: readonly string[]) =>
    runToEnd({ command: [...PROGRAM, ...words], environment: productSettings(directory) }, "", COMMAND_TIMEOUT_MS)
  await run("account", "create", EMAIL, "--tier", "0")
  return (await run("key", "create", "--account", EMAIL)).trim()
}
