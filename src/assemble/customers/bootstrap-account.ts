import { newMark, readStoredMark, storeMark } from "../../customers/jobs/jobs-folder.ts"
import { createFirstAccount, type FirstAccountResult, hasKey } from "../../customers/keys/first-account.ts"
import type { Store } from "../../customers/store/core/store.ts"
import { currentTermsVersion } from "../../customers/terms/terms.ts"
import { StartStopped } from "../../process/start-budget.ts"
import type { AppContext } from "../context.ts"

/** Creates the first account with its key if there is none, and the mark of the folder with the lists of jobs. The caller must show the key, which cannot be read again. */
export async function ensureBootstrapAccount(
  { system: { clock, random }, settings, log }: AppContext,
  store: Store,
): Promise<FirstAccountResult> {
  // Before there is a key, and so in every backup. Servers that share a database store it with a folder that all of them have.
  if (settings.MAILKIND_DATABASE_URL === null && (await readStoredMark(store)) === null)
    await storeMark(store, newMark(random))
  const preset = settings.MAILKIND_FIRST_KEY?.reveal() ?? null
  try {
    const result = await createFirstAccount(store, clock, random, await currentTermsVersion(store), preset)
    if (result.kind === "exists" && preset !== null && !(await hasKey(store, preset)))
      log("info", "the first key is not used, since there are accounts")
    return result
  } catch (error) {
    if (error instanceof StartStopped) return { kind: "exists" }
    throw error
  }
}
