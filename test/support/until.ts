import { bounded } from "./bounded.ts"

const PAUSE_MS = 20

/** Asks again and again, with pauses, until something is so. Rejects with what `describe` says when that takes longer than a step of a test. */
export async function until(isSo: () => boolean | Promise<boolean>, describe: () => string): Promise<void> {
  const state = { isOver: false }
  const asking = async (): Promise<void> => {
    while (!state.isOver && !(await isSo())) await Bun.sleep(PAUSE_MS)
  }
  await bounded(asking(), describe).finally(() => {
    state.isOver = true
  })
}
