import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { BuildPackResult } from "../../../../src/check/lists/build/build-pack.ts"
import type { Pack } from "../../../../src/check/lists/pack/pack.ts"
import { ROOT } from "../../../architecture/source-files.ts"
import { openedPack } from "../pack/small-pack.ts"
import { repositoryFiles } from "../sources/repository-files.ts"
import { buildPackFromFiles } from "./build-pack-from-files.ts"

let cachedBuild: (BuildPackResult & { readonly kind: "built" }) | null = null

/** The pack of this repository's own sources, built once for all tests. */
export function buildRealPack(): BuildPackResult & { readonly kind: "built" } {
  if (cachedBuild !== null) return cachedBuild
  const built = buildPackFromFiles(repositoryFiles.read("data/catalogue.json"), repositoryFiles)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  cachedBuild = built
  return built
}

/** The pack that `lists build` has made in this checkout. */
export const BUILT_PACK = join(ROOT, "data/build/lists.pack")

/** The same pack, opened. */
export const openRealPack = (): Pack => openedPack(new Uint8Array(readFileSync(BUILT_PACK)))
