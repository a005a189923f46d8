import { type Command, Option } from "commander"
import { escapeControls } from "../base/untrusted-text.ts"
import { DIAGNOSTIC_NAMES, type DiagnosticName, type DiagnosticRow, isDiagnostic } from "../doctor/diagnostics.ts"
import { CommandError, type Output, printJson, printTable } from "./output.ts"

/** Looks at what the names name. `isProcessRunning`: a server is to be there. It changes nothing, and never rejects. */
export type RunDoctor = (names: readonly DiagnosticName[], isRunning: boolean) => Promise<readonly DiagnosticRow[]>

/** The arguments of a single check with JSON output. */
export const doctorArguments = (name: DiagnosticName): readonly string[] => ["doctor", "--only", name, "--json"]

/** Registers `doctor`: exit code 1 when anything has failed. */
export function registerDoctor(root: Command, output: Output, doctor: RunDoctor): void {
  root
    .command("doctor")
    .description("Check everything that a server needs, and say how to fix it.")
    .addOption(new Option("--only <names...>", "run only these checks").choices(DIAGNOSTIC_NAMES))
    .option("--running", "expect a running server, and fail if none answers on the port", false)
    .option("--json", "print JSON", false)
    .action(async ({ only, running, json: asJson }: DoctorOptions) => {
      const names = only === undefined ? DIAGNOSTIC_NAMES : only.filter(isDiagnostic)
      const rows = await doctor(names, running)
      if (asJson) printJson(output, { verdict: worstStatus(rows), examinations: rows })
      else printChecks(output, rows)
      const failedCount = rows.filter(({ verdict }) => verdict === "failed").length
      if (failedCount > 0) throw new CommandError(`${failedCount} of ${rows.length} checks failed.`)
    })
}

type DoctorOptions = { readonly only?: readonly string[]; readonly running: boolean; readonly json: boolean }

function printChecks(output: Output, rows: readonly DiagnosticRow[]): void {
  printTable(
    output,
    rows.flatMap(({ name, verdict, seen, remedy }) => {
      const first = [name, verdict, escapeControls(seen)]
      return remedy === null ? [first] : [first, ["", "", `→ ${escapeControls(remedy)}`]]
    }),
  )
}

/** The worst status of all checks. */
const worstStatus = (rows: readonly DiagnosticRow[]): "ok" | "warning" | "failed" =>
  rows.some(({ verdict }) => verdict === "failed")
    ? "failed"
    : rows.some(({ verdict }) => verdict === "warning")
      ? "warning"
      : "ok"
