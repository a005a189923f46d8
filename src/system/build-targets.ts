/** A kind of machine for which an executable can be built. */
export type BuildTarget = {
  /** The target as Bun names it. */
  readonly bun: string
  readonly extension: "" | ".exe"
}

/** The machines for which executables can be built, by name. Those for other machines than this one need the registry of packages. */
export const BUILD_TARGETS = {
  "linux-x64": { bun: "bun-linux-x64", extension: "" },
  "linux-arm64": { bun: "bun-linux-arm64", extension: "" },
  "linux-x64-musl": { bun: "bun-linux-x64-musl", extension: "" },
  "linux-arm64-musl": { bun: "bun-linux-arm64-musl", extension: "" },
  "darwin-x64": { bun: "bun-darwin-x64", extension: "" },
  "darwin-arm64": { bun: "bun-darwin-arm64", extension: "" },
  "windows-x64": { bun: "bun-windows-x64", extension: ".exe" },
} as const satisfies Record<string, BuildTarget>
export type BuildTargetName = keyof typeof BUILD_TARGETS

/** The targets that `--target` names, separated by commas, or all of them; or the first text that names none. */
export function parseTargets(
  text: string,
):
  | { readonly kind: "targets"; readonly names: readonly BuildTargetName[] }
  | { readonly kind: "unknown"; readonly name: string } {
  if (text === "all") return { kind: "targets", names: Object.keys(BUILD_TARGETS).filter(isTarget) }
  const names = text.split(",").map(name => name.trim())
  const unknown = names.find(name => !isTarget(name))
  return unknown === undefined
    ? { kind: "targets", names: [...new Set(names.filter(isTarget))] }
    : { kind: "unknown", name: unknown }
}

const isTarget = (name: string): name is BuildTargetName => Object.hasOwn(BUILD_TARGETS, name)

/** The name of the executable for a target, without its directory. */
export const executableName = (version: string, name: BuildTargetName): string =>
  `mailkind-${version}-${name}${BUILD_TARGETS[name].extension}`
