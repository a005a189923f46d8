import { type DiagnosticResult, ok, skipped, warning } from "./diagnostics.ts"

/** Descriptors of a process for anything but requests and the database: sockets for DNS, mails and callbacks, files, pipes. */
const OTHER_DESCRIPTORS = 256

/**
 * Compares how many files and sockets a process may open with what it may need. `descriptorsMax`: 0 where the system does not tell.
 * `who`: the process, at the beginning of a sentence.
 */
export function diagnoseDescriptors(
  descriptorsMax: number,
  { inFlightMax, databaseConnections }: { readonly inFlightMax: number; readonly databaseConnections: number },
  who = "A process that is started as this one",
): DiagnosticResult {
  if (descriptorsMax === 0) return skipped("The system does not tell how many files and sockets a process may open.")
  const needed = inFlightMax + databaseConnections + OTHER_DESCRIPTORS
  const seen = `${who} may open ${descriptorsMax} files and sockets. It may need ${needed}: ${inFlightMax} for requests, ${databaseConnections} for the database, ${OTHER_DESCRIPTORS} for the rest.`
  return descriptorsMax >= needed
    ? ok(seen)
    : warning(
        seen,
        "Raise the limit of open files (`LimitNOFILE` of systemd, `ulimit -n`, `--ulimit nofile` of a container).",
      )
}
