import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Pack } from "../../../../src/check/lists/pack/pack.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { openedPack } from "../pack/small-pack.ts"

/** The pack that `lists build` has made in this checkout. */
export const BUILT_PACK = join(ROOT, "data/build/lists.pack")

/** The same pack, opened. */
export const openRealPack = (): Pack => openedPack(new Uint8Array(readFileSync(BUILT_PACK)))
