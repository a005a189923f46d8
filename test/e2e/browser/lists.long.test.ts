import { test } from "bun:test"
import { IN_A_BROWSER, isBrowserMissing } from "./browser.ts"
import { goTheWholeWay, openLists } from "./list-way.ts"

test.skipIf(isBrowserMissing)(
  `${IN_A_BROWSER}, a list of 100 000 rows goes the same way`,
  async () => {
    const { watched, server } = await openLists()
    await goTheWholeWay(watched, server, 100_000)
  },
  600_000,
)
