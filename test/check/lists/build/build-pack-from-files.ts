import { type BuildPackResult, buildPack } from "../../../../src/check/lists/build/build-pack.ts"
import { readSourceBundle } from "../../../../src/check/lists/sources/source-bundle.ts"
import type { SourceFiles } from "../../../../src/check/lists/sources/source-formats.ts"

/** Builds the pack of a catalogue (its text) from source files. */
export function buildPackFromFiles(catalogueText: string, files: SourceFiles): BuildPackResult {
  const read = readSourceBundle(catalogueText, files)
  return read.kind === "refused" ? read : buildPack(read.bundle)
}
