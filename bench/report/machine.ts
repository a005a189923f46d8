import { cpus, loadavg, release, totalmem, type } from "node:os"

/** Where and on what a bench ran. */
export type Machine = {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly os: string
  readonly bun: string
  /** The commit, with `+` when the tree differs from it; null outside a repository or before the first commit. */
  readonly commit: string | null
  /** Programs that wanted a core in the last minute, on average. */
  readonly loadAverage: number
}

/** Describes this machine, this Bun and this tree. */
export function thisMachine(): Machine {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release()} ${process.arch}`,
    bun: `${Bun.version} (${Bun.revision.slice(0, 9)})`,
    commit: commit(),
    loadAverage: loadavg()[0] ?? 0,
  }
}

/** Above this, other programs take part in what is measured. */
const QUIET_MAX = 0.5

/** The machine in two lines, and a third when it is busy with something else. */
export function machineText({ cpu, cores, memoryGiB, os, bun, commit, loadAverage }: Machine): string {
  const lines = [`${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}`, `Bun ${bun}, commit ${commit ?? "none"}`]
  if (loadAverage > QUIET_MAX)
    lines.push(`load average ${loadAverage.toFixed(1)} before the start: other programs run, times are too long`)
  return lines.join("\n")
}

function commit(): string | null {
  const head = git("rev-parse", "--short=12", "--verify", "HEAD")
  if (head === null) return null
  return git("status", "--porcelain") === "" ? head : `${head}+`
}

function git(...args: readonly string[]): string | null {
  if (Bun.which("git") === null) return null
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: import.meta.dir, stderr: "ignore" })
  return success ? stdout.toString().trim() : null
}
