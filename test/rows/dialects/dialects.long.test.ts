import { expect, test } from "bun:test"
import { type Judged, judgeTables } from "./judge-tables.ts"
import type { Dialect } from "./random-tables.ts"
import { WRITER_NAMES } from "./written-tables.ts"

const TABLES = 20_001
const PIECE = 1000
const TIMEOUT_MS = 600_000

/** The share of what came, by a property of the dialect. */
function sharesBy(judged: readonly Judged[], of: (dialect: Dialect, writer: string) => string): readonly string[] {
  const groups = Object.groupBy(judged, ({ table, writer }) => of(table.dialect, writer))
  return Object.entries(groups).map(([name, group = []]) => {
    const shareOf = (wanted: Judged["came"]): string =>
      `${wanted} ${((group.filter(({ came }) => came === wanted).length * 100) / group.length).toFixed(2)} %`
    return `${name}: ${shareOf("right")}, ${shareOf("refused")}, ${shareOf("wrong")} of ${group.length}`
  })
}

test(
  `of ${TABLES} random tables of three writers none comes out otherwise than it went in`,
  async () => {
    const judged: Judged[] = []
    for (const [seed, writer] of WRITER_NAMES.entries())
      for (let at = 0; at < TABLES / WRITER_NAMES.length; at += PIECE) {
        const count = Math.min(PIECE, TABLES / WRITER_NAMES.length - at)
        // Texts are dropped, because they are many.
        judged.push(
          ...(await judgeTables(2 + seed, at, count, writer)).map(one =>
            one.came === "wrong" ? one : { ...one, text: "" },
          ),
        )
      }
    const groups = [
      (_: Dialect, writer: string) => writer,
      ({ delimiter }: Dialect) => `delimiter ${JSON.stringify(delimiter)}`,
      ({ quoting }: Dialect) => `quotes ${quoting}`,
      ({ lineEnd }: Dialect) => `line end ${JSON.stringify(lineEnd)}`,
      ({ hasBlank }: Dialect) => `blank after the delimiter ${hasBlank}`,
      ({ encoding }: Dialect) => encoding,
    ]
    console.info(groups.flatMap(of => sharesBy(judged, of)).join("\n"))
    expect(judged.filter(({ came }) => came === "wrong")).toEqual([])
  },
  TIMEOUT_MS,
)
