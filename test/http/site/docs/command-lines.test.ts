import { expect, test } from "bun:test"
import { ROUTES } from "../../../../src/contract/routes.ts"
import { CHECKOUT_COMMAND, withRunnableCommands } from "../../../../src/http/site/docs/command-lines.ts"
import { GUIDE } from "../../../../src/http/site/docs/guide.ts"
import { markdownPath } from "../../../../src/http/site/docs/llms.ts"
import { openSite } from "../../../support/open-site.ts"

const ask = openSite()

test("the command lines of a block are runnable, and the text around it and the output of a command stay as they are", () => {
  const page =
    "`mailkind doctor`\n\n```sh Shell\nmailkind doctor\ncut -d, -f2 a.csv | mailkind check - && bun run build\n```\n\n```text\nmailkind listens\n```\n"
  expect(withRunnableCommands(page, "./mailkind")).toBe(
    "`mailkind doctor`\n\n```sh Shell\n./mailkind doctor\ncut -d, -f2 a.csv | ./mailkind check - && npx --yes bun@1.4.5 run build\n```\n\n```text\nmailkind listens\n```\n",
  )
})

test("no page of a checkout has a command line that needs a program which nobody installed", async () => {
  const pages = GUIDE.flatMap(({ pages }) => pages.map(({ route }) => route)).filter(route => route !== "docs")
  const texts = await Promise.all(pages.map(async route => (await ask(markdownPath(ROUTES[route].path))).text()))
  const lines = texts
    .flatMap(text => [...text.matchAll(/^```sh\b[^\n]*\n([\s\S]*?)^```$/gm)])
    .flatMap(([, block]) => block?.split("\n") ?? [])
  expect(lines.filter(line => line.startsWith(CHECKOUT_COMMAND)).length).toBeGreaterThan(10)
  // `bun add` is for the project of a reader whose program runs on Bun.
  expect(lines.filter(line => /(?:^|&& |\| )(?:mailkind|bun(?! add)|bunx) /.test(line))).toEqual([])
})
