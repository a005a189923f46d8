import { type Built, buildPack } from "../../../src/check/lists/build.ts"
import type { Pack } from "../../../src/check/lists/domain-set.ts"
import { diskShelf } from "./disk-shelf.ts"
import { opened } from "./small-pack.ts"

let held: (Built & { readonly kind: "built" }) | null = null

/** The pack of this repository's own sources, built once for all tests. */
export function realBuild(): Built & { readonly kind: "built" } {
  if (held !== null) return held
  const built = buildPack(diskShelf.read("data/catalogue.json"), diskShelf)
  if (built.kind === "refused") throw new Error(built.faults.join("\n"))
  held = built
  return built
}

/** The same, opened. */
export const realPack = (): Pack => opened(realBuild().bytes)
