import { type Command, Option } from "commander"
import { EXAMINATION_NAMES, type ExaminationName, isExamination, type Row } from "../doctor/examinations.ts"
import { CommandFailure, json, type Output, shown, table } from "./output.ts"

/** Looks at what the names name. `isRunning`: a server is to be there. It changes nothing, and never rejects. */
export type Doctor = (names: readonly ExaminationName[], isRunning: boolean) => Promise<readonly Row[]>

/** The words that look at one thing alone, for a program. */
export const alone = (name: ExaminationName): readonly string[] => ["doctor", "--only", name, "--json"]

/** Registers `doctor`: exit code 1 when anything has failed. */
export function doctorCommand(root: Command, output: Output, doctor: Doctor): void {
  root
    .command("doctor")
    .description("Look at all that a server needs here, and say what is wrong and what to do about it.")
    .addOption(new Option("--only <names...>", "look at these alone").choices(EXAMINATION_NAMES))
    .option("--running", "a server is to be running: that nobody answers on the port is a failure", false)
    .option("--json", "answer in JSON", false)
    .action(async ({ only, running, json: asJson }: DoctorOptions) => {
      const names = only === undefined ? EXAMINATION_NAMES : only.filter(isExamination)
      const rows = await doctor(names, running)
      if (asJson) json(output, { verdict: worst(rows), examinations: rows })
      else tell(output, rows)
      const failedCount = rows.filter(({ verdict }) => verdict === "failed").length
      if (failedCount > 0) throw new CommandFailure(`${failedCount} of ${rows.length} examinations failed.`)
    })
}

type DoctorOptions = { readonly only?: readonly string[]; readonly running: boolean; readonly json: boolean }

function tell(output: Output, rows: readonly Row[]): void {
  table(
    output,
    rows.flatMap(({ name, verdict, seen, remedy }) => {
      const first = [name, verdict, shown(seen)]
      return remedy === null ? [first] : [first, ["", "", `→ ${shown(remedy)}`]]
    }),
  )
}

/** What the whole comes to: the worst of what was found. */
const worst = (rows: readonly Row[]): "ok" | "warning" | "failed" =>
  rows.some(({ verdict }) => verdict === "failed")
    ? "failed"
    : rows.some(({ verdict }) => verdict === "warning")
      ? "warning"
      : "ok"
