import { assert } from "../../base/assert.ts"

/** Strings, quoted names and comments, which are kept as they are; a parameter; the end of a statement. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)|;/g

/** The statement with each parameter `$n` as `parameter` gives it. Fails on a semicolon: it is one statement at a time. */
export function withParameters(sql: string, parameter: (number: number) => string): string {
  return sql.replace(PARTS, (part, number?: string) => {
    assert(part !== ";", "one statement at a time, without a semicolon")
    return number === undefined ? part : parameter(Number(number))
  })
}

/** How many parameters the statement takes. Fails on a semicolon, as above. */
export function parametersIn(sql: string): number {
  let count = 0
  withParameters(sql, number => {
    count = Math.max(count, number)
    return ""
  })
  return count
}
