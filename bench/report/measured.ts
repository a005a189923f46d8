/** The figures of the results that the home page tells. */
export type Measured = {
  /** Disposable names of the sealed sample: how many are told, of how many. */
  readonly disposable_caught: { readonly right: number; readonly of: number }
  /** What half of the requests take at most at half of the server's throughput, with the lists alone. */
  readonly median_check_ms: number
}

/** The file with the figures, which the home page imports: an executable has no results file. */
export const MEASURED_FILE = "src/http/site/public/measured.json"

/** Reads the figures from the text of the results file. */
export function measuredIn(results: string): Measured {
  const [, right, of] = figureOf(results, "accuracy", "disposable: sealed", /\((\d+) of (\d+)\)/)
  const [, median] = figureOf(results, "http", "half load, p50", /([\d.]+) ms/)
  return { disposable_caught: { right: Number(right), of: Number(of) }, median_check_ms: Number(median) }
}

function figureOf(results: string, bench: string, figure: string, value: RegExp): RegExpExecArray {
  const section = results.split(/^## /m).find(each => each.startsWith(`${bench}\n`))
  const row = section?.split("\n").find(line => line.startsWith(`| ${figure} `))
  const found = value.exec(row ?? "")
  if (found === null) throw new Error(`the results have no figure "${figure}" of ${bench}`)
  return found
}
