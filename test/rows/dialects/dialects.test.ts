import { expect, test } from "bun:test"
import { judgeTables } from "./judge-tables.ts"
import { WRITER_NAMES } from "./written-tables.ts"

const TABLES = 130
/** The share of tables that may be refused. They are those of a few rows among lines of other forms. */
const REFUSED_SHARE_MAX = 0.05

test.each(WRITER_NAMES)(
  "random tables that %s writes, in any dialect and encoding, come out as they went in, or are refused",
  async writer => {
    const judged = await judgeTables(1, 0, TABLES, writer)
    expect(judged.filter(({ came }) => came === "wrong")).toEqual([])
    expect(judged.filter(({ came }) => came === "refused").length / TABLES).toBeLessThan(REFUSED_SHARE_MAX)
  },
)
